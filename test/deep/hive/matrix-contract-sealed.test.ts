/** The transport contract over the Matrix backend with both switches on: messages are encrypted, notes are sealed. */
import { join } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { openAccountDataCipher } from '#extensions/hive/matrix/crypto/account-data-key.ts';
import { openMachineCrypto } from '#extensions/hive/matrix/crypto/open-machine-crypto.ts';
import { createFetchHttp } from '#extensions/hive/matrix/http/fetch-http.ts';
import type { MatrixParts } from '#extensions/hive/matrix/matrix-transport.ts';
import { createTempHome } from '#testing/temp-home.ts';
import type { TestAccount } from '../../contract/hive/hive-homeserver.ts';
import { hiveTransportContract } from '../../contract/hive/hive-transport.contract.ts';
import { matrixGround } from '../../extensions/hive/matrix/hive-matrix-ground.ts';

hiveTransportContract('matrix, encrypted, notes sealed', async () => {
  const home = createTempHome();
  const ground = await matrixGround({}, (name, account, server) => sealed(join(home.path, name), account, server));
  return {
    ...ground,
    close: async () => {
      await ground.close();
      home.remove();
    },
  };
});

function sealed(folder: string, account: TestAccount, server: { readonly url: string }): Partial<MatrixParts> {
  const { userId, accessToken, deviceId } = account;
  const http = createFetchHttp({ homeserver: server.url, accessToken }, systemClock);
  const options = { http, userId, deviceId, folder, clock: systemClock, warn: () => undefined };
  return { crypto: () => openMachineCrypto(options), cipher: openAccountDataCipher(folder) };
}
