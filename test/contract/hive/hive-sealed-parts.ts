/** Parts of the Matrix backend with both switches on: messages are encrypted, notes are sealed, keys lie below a folder, by name of the agent. */
import { join } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { openAccountDataCipher } from '#extensions/hive/matrix/crypto/account-data-key.ts';
import { openMachineCrypto } from '#extensions/hive/matrix/crypto/open-machine-crypto.ts';
import type { MatrixHttp } from '#extensions/hive/matrix/http/matrix-http.ts';
import type { MatrixParts } from '#extensions/hive/matrix/matrix-transport.ts';
import { createTempHome } from '#testing/temp-home.ts';
import type { TestAccount } from './hive-homeserver.ts';
import type { HiveTransportGround } from './hive-transport-ground.ts';

type Parts = Pick<MatrixParts, 'crypto' | 'cipher'>;
type MakeGround = (
  partsOf: (name: string, account: TestAccount, http: MatrixHttp) => Parts,
) => Promise<HiveTransportGround>;

/** The ground that `make` gives with such parts; its folder goes with it. */
export async function withSealedParts(make: MakeGround): Promise<HiveTransportGround> {
  const home = createTempHome();
  const ground = await make((name, account, http) => sealedParts(join(home.path, name), account, http));
  const close = async () => {
    await ground.close();
    home.remove();
  };
  return { ...ground, close };
}

function sealedParts(folder: string, { userId, deviceId }: TestAccount, http: MatrixHttp): Parts {
  const options = { http, userId, deviceId, folder, clock: systemClock, warn: () => undefined };
  return { crypto: () => openMachineCrypto(options), cipher: openAccountDataCipher(folder) };
}
