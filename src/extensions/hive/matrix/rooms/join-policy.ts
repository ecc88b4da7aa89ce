// Owns whose introductions are accepted: the owner's allow and deny lists (notes 6, B15). Pure.
import type { HiveConfig } from '../../hive-config.ts';
import { opaqueId } from '../events/user-id.ts';

/** Whether `userId` (`@name:server`) may introduce: not denied, and on the allow list unless that is empty. */
export function createJoinPolicy({ allow, deny }: Pick<HiveConfig['join'], 'allow' | 'deny'>) {
  const [allowed, denied] = [allow.map(patternOf), deny.map(patternOf)];
  return (userId: string): boolean => {
    const id = opaqueId(userId).toLowerCase();
    if (denied.some((pattern) => pattern.test(id))) return false;
    return allowed.length === 0 || allowed.some((pattern) => pattern.test(id));
  };
}

/** `*` stands for anything, all else for itself. Several in a row are one, so that no pattern takes long. */
function patternOf(pattern: string): RegExp {
  const parts = pattern.toLowerCase().replace(/\*+/g, '*').split('*');
  return new RegExp(`^${parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('.*')}$`, 's');
}
