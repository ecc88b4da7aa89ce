/** A shop in a process of its own, which dies before or behind its so many-th step: a call of the chain or of its rows. `node shop-child.ts JSON` */
import { serveCatalogue } from '#fleet/market/catalogue.ts';
import { type ChainPlaces, openChain } from '#fleet/market/chain.ts';
import { openMarketRows } from '#fleet/market/market-rows.ts';
import { openShop } from '#fleet/market/shop.ts';
import { realClock } from '../../ground.ts';

const { places, key, home, box, port, dies, isBehind } = JSON.parse(process.argv[2] ?? '{}');

/** They count once it can be asked. */
let steps = Number.NEGATIVE_INFINITY;

/** What it does at that step is done or not; what comes next never is. */
function mortal<T extends object>(whole: T): T {
  return new Proxy(whole, {
    get: (target, name) => {
      const member = Reflect.get(target, name, target) as unknown;
      if (typeof member !== 'function' || name === 'facilitator') return member;
      return (...args: unknown[]) => {
        steps += 1;
        const isLast = steps === dies;
        if (isLast && isBehind !== true) process.kill(process.pid, 'SIGKILL');
        const result = Reflect.apply(member, target, args) as unknown;
        if (isLast && result instanceof Promise) return result.finally(() => process.kill(process.pid, 'SIGKILL'));
        if (isLast) process.kill(process.pid, 'SIGKILL');
        return result;
      };
    },
  });
}

const chain = await openChain(places as ChainPlaces, key);
const rows = openMarketRows(home, realClock);
const shop = await openShop({
  chain: mortal(chain),
  rows: mortal(rows),
  clock: realClock,
  box: box,
  directLimit: 1_000_000n,
});
const { address } = await serveCatalogue({ shop, chain }, { host: '127.0.0.1', port: port });
steps = 0;
console.log(address);
