/** Keys on disk over a real homeserver. */
import { cryptoContract } from '../../contract/hive/hive-crypto.contract.ts';
import { onSynapse } from '../../contract/hive/hive-synapse-server.ts';

onSynapse('keys on Synapse', (start) => cryptoContract('synapse', start));
