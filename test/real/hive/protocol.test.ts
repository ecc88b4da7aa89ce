/** The protocol tests on a real homeserver, which this file starts and ends. */
import { protocolSuite } from '../../contract/hive/hive-protocol.ts';
import { onSynapse } from '../../contract/hive/hive-synapse-server.ts';

onSynapse('a real homeserver', (start) => {
  protocolSuite('synapse', start);
});
