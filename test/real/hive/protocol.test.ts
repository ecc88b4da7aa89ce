/** The protocol tests and the homeserver contract on a real homeserver, which this file starts and ends. */
import { devicesContract, homeserverContract, protocolSuite } from '../../contract/hive/hive-homeserver.contract.ts';
import { onSynapse } from '../../contract/hive/hive-synapse-server.ts';

onSynapse('a real homeserver', (start) => {
  protocolSuite('synapse', start);
  homeserverContract('synapse', start);
  devicesContract('synapse', start);
});
