// The hub keeps the contract of PeerTransport.
import { hiveTransportContract } from '../../../contract/hive/hive-transport.contract.ts';
import { hubGround } from './hub-ground.ts';

hiveTransportContract('hub', hubGround);
