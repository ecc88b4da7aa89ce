// Owns what the parts of the Matrix backend share. Knows nothing of how they use it. Data only.
import type { Clock } from '#base/clock.ts';
import type { HiveConfig } from '../hive-config.ts';
import type { AccountData } from './account-data/account-data.ts';
import type { MatrixHttp } from './http/matrix-http.ts';
import type { BookShelf } from './rooms/book-shelf.ts';
import type { PeerViewer } from './rooms/peer-view.ts';
import type { CryptoDoor } from './talk/crypto-door.ts';

export interface MatrixGround {
  /** `@name:server` */
  readonly selfId: string;
  readonly join: HiveConfig['join'];
  readonly clock: Clock;
  readonly http: MatrixHttp;
  readonly data: AccountData;
  readonly crypto: CryptoDoor;
  readonly shelf: BookShelf;
  readonly viewer: PeerViewer;
  /** For the log, one sentence. */
  readonly warn: (text: string) => void;
}
