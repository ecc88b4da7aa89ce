/** The transport contract over the Matrix backend on a real homeserver, both switches off and both on. */

import { onSynapse } from '../../contract/hive/hive-synapse-server.ts';
import { hiveTransportContract } from '../../contract/hive/hive-transport.contract.ts';
import { withSealedParts } from '../../contract/hive/hive-transport-ground.ts';
import { matrixGround } from '../../extensions/hive/matrix-stage.ts';

onSynapse('peer transport on a real homeserver', (start) => {
  hiveTransportContract('synapse', () => matrixGround(start));
  hiveTransportContract('synapse, encrypted, notes sealed', () =>
    withSealedParts((partsOf) => matrixGround(start, partsOf)),
  );
});
