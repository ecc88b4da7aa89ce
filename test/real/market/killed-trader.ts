/** A process that sells or buys in a home, and kills itself before or after a state is written. */
import type { TestContext } from 'node:test';
import { MarketRows } from '#fleet/market/market-rows.ts';
import { room } from '#fleet/meta/trade/room.ts';
import { realClock } from '../../ground.ts';
import { groundOf, runSpec } from '../../surfaces/app/app-fixture.ts';

const { environment, command: wanted, asked, when } = JSON.parse(process.argv[2] ?? '{}');
const [side, state] = String(when).split(' ');
const die = () => process.kill(process.pid, 'SIGKILL');

const { addLot, markLot, move, sign } = MarketRows.prototype;
MarketRows.prototype.move = async function (purchase, to, more) {
  if (side === 'before' && to === state) die();
  const isMoved = await move.call(this, purchase, to, more);
  if (side === 'after' && to === state) die();
  return isMoved;
};
MarketRows.prototype.sign = async function (purchase, perDay) {
  await sign.call(this, purchase, perDay);
  if (when === 'after signed') die();
};

MarketRows.prototype.addLot = async function (lot) {
  await addLot.call(this, lot);
  if (when === 'after listed') die();
};
MarketRows.prototype.markLot = async function (id, mark) {
  if (side === 'before' && mark === state) die();
  await markLot.call(this, id, mark);
};

const ground = groundOf({ after: () => undefined } as unknown as TestContext, { environment, clock: realClock });
const command = (await room.commands?.(ground))?.find(({ name }) => name === `market ${wanted}`);
if (command === undefined) throw new Error(`there is no market ${wanted}`);
await runSpec(command, { ...asked, yes: true }, { cwd: environment.cwd });
