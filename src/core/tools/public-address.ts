// Owns which addresses of the network belong to the public internet, and which hosts a pattern of the configuration names. Knows no request.
// Invariant: whatever is not clearly public counts as private (loopback, link-local, private, documentation, multicast, translated forms).
import { BlockList, isIP, isIPv6 } from 'node:net';

const V4 = [
  ...'0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24'.split(' '),
  ...'192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'.split(' '),
];
/** Translated and tunnelled forms carry an IPv4 address that nobody has checked: they count as private as a whole. */
const V6 =
  '::/128 ::1/128 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8'.split(
    ' ',
  );

const blocked = new BlockList();
for (const range of V4) add(range, 'ipv4');
for (const range of V6) add(range, 'ipv6');

function add(range: string, family: 'ipv4' | 'ipv6'): void {
  const [address = '', bits = ''] = range.split('/');
  blocked.addSubnet(address, Number(bits), family);
}

export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/^\[|\]$|%.*$/g, '');
  if (isIP(plain) === 0) return false;
  if (!isIPv6(plain)) return !blocked.check(plain, 'ipv4');
  return !blocked.check(plain, 'ipv6') && !/^::ffff:/i.test(plain) && !/^::\d+\.\d+\.\d+\.\d+$/.test(plain);
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export function plainHost(name: string): string {
  return name.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** `name`, `name:port`, `*.name`, `*.name:port`; without a port every port. */
export function isHostNamed(pattern: string, { host, port }: HostPort): boolean {
  const [, name = '', wanted] = /^(.*?)(?::(\d+))?$/.exec(pattern) ?? [];
  if (isIP(pattern) === 6) return pattern === host;
  if (wanted !== undefined && Number(wanted) !== port) return false;
  const plain = plainHost(name.toLowerCase());
  return plain.startsWith('*.') ? host.endsWith(plain.slice(1)) : plain === host;
}
