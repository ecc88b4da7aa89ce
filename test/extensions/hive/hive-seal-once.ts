/** Seals one value with the key of the folder named by the first argument, for the test of processes that begin at once. */
import { openAccountDataCipher } from '#extensions/hive/crypto/account-data-key.ts';

const cipher = openAccountDataCipher(process.argv[2] ?? '');

process.stdout.write(JSON.stringify(cipher.seal({ ok: true }, '@a:x !r:x social.awareness.peer')));
