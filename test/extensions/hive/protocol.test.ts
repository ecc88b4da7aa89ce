/** The protocol tests and the homeserver contract on the fake homeserver, strict and in rooms of two ages. */

import { devicesContract } from '../../contract/hive/hive-devices.contract.ts';
import { onFake } from '../../contract/hive/hive-fake-server.ts';
import { homeserverContract } from '../../contract/hive/hive-homeserver.contract.ts';
import { refused, withAgents } from '../../contract/hive/hive-introduction.ts';
import { protocolSuite } from '../../contract/hive/hive-protocol.contract.ts';
import { verifies } from '../../verifies.ts';

protocolSuite('fake, strict', onFake());
protocolSuite('fake, rooms of version 12', onFake({ roomVersion: '12' }));
homeserverContract('fake, strict', onFake());
devicesContract('fake, strict', onFake());

verifies(
  'R4.66',
  'a strict server refuses a join without a body, as Conduit does; a lenient one lets it pass',
  async () => {
    await withAgents(onFake(), async ({ bob, room }) => {
      await refused(bob.call('POST', `/v3/join/${encodeURIComponent(room)}`), 'M_NOT_JSON', 400);
      await bob.join(room);
    });
    await withAgents(onFake({ strict: false }), async ({ bob, room }) => {
      await bob.call('POST', `/v3/join/${encodeURIComponent(room)}`);
    });
  },
);
