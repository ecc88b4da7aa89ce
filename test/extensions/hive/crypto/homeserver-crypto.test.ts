import { cryptoContract } from '../../../contract/hive/hive-crypto.contract.ts';
import { onFake } from '../../../contract/hive/hive-fake-server.ts';

cryptoContract('fake', onFake());
