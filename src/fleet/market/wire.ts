// Owns viem with one key at one address of a chain: reading, sending, deploying by the ABI of the contracts that artifacts.json holds, the only one.
// Knows no place and no job. Invariants: one key sends one transaction after another; of a call that would be refused nothing is sent; what a
// contract refuses is an error that names the contract's reason.
import type { Abi, Hash, PublicActions } from 'viem';
import { TalariaError } from '#base/errors.ts';
import { accountOf, type Hex } from '#base/ethereum.ts';
import { lazy } from '#base/lazy.ts';

type Contract = 'JobEscrow' | 'SaleSplitter' | 'SplitterFactory' | 'ERC2771Forwarder';
type Made = Record<Contract, { readonly abi: Abi; readonly bytecode: Hex }>;
export type Args = readonly unknown[];
export type Wire = Awaited<ReturnType<typeof wire>>;

/** Blocks that a node is asked for at once. */
const BLOCKS = 5_000n;
const POLLING_MS = 200;

const parts = lazy(async () => {
  const { parts: viem } = await import('./parts.ts');
  const token = viem.parseAbi([
    'function balanceOf(address) view returns (uint256)',
    'function decimals() view returns (uint8)',
    'function name() view returns (string)',
    'function version() view returns (string)',
    'function authorizationState(address, bytes32) view returns (bool)',
    'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
    'event Transfer(address indexed from, address indexed to, uint256 value)',
  ]);
  return { viem, made: viem.made as unknown as Made, token };
});

/** Throws TalariaError `key-invalid`; what it gives throws `chain-down`, and of what is sent `reverted` and `chain-refused`. */
export async function wire(rpc: string, key: string) {
  const { viem, made, token } = await parts();
  const account = await accountOf(key);
  const client = viem
    .createWalletClient({
      account,
      transport: viem.http(rpc, { retryCount: 2 }),
      pollingInterval: POLLING_MS,
      cacheTime: 0,
    })
    .extend(viem.publicActions);
  const wired = <T>(work: Promise<T>) => work.catch((cause: unknown) => Promise.reject(told(viem, rpc, cause)));
  const abiOf = (contract: Contract | 'token'): Abi => (contract === 'token' ? token : made[contract].abi);
  // A refusal of the splitter or the forwarder is often the escrow's.
  const errors = Object.values(made).flatMap(({ abi }) => abi.filter(({ type }) => type === 'error'));
  const inTurn = queue(
    (error) => error instanceof viem.BaseError && error.walk((one) => one instanceof viem.NonceTooLowError) !== null,
  );
  const mined = async (hash: Hash) => {
    const receipt = await client.waitForTransactionReceipt({ hash });
    if (receipt.status === 'success') return receipt;
    throw reverted(`transaction ${hash}`, undefined);
  };
  /** `as`: who calls; default this key. */
  const simulate = (
    contract: Contract,
    { as, ...call }: { address: Hex; functionName: string; args: Args; as?: Hex },
  ) => wired(client.simulateContract({ ...call, abi: [...abiOf(contract), ...errors], account: as ?? account }));
  return {
    // By its name: what is inferred of it cannot be written into a declaration.
    client: client as PublicActions,
    ...{ account, simulate, wired },
    me: lower(account.address),
    chainId: () => wired(client.getChainId()),
    encoded: (contract: Contract, functionName: string, args: Args) =>
      viem.encodeFunctionData({ abi: abiOf(contract), functionName, args }),
    /** The caller says what the ABI gives. */
    read: <T>(address: Hex, contract: Contract | 'token', functionName: string, args: Args = []) =>
      wired(client.readContract({ address, abi: abiOf(contract), functionName, args }) as Promise<T>),
    settledBy: (address: Hex, sent: Sent) => wired(settledBy(viem, { client, token, address }, sent)),
    /** Comes back when it is in a block. */
    send: async (address: Hex, contract: Contract, functionName: string, args: Args): Promise<Hex> => {
      await simulate(contract, { address, functionName, args });
      const call = { address, abi: abiOf(contract), functionName, args, chain: null };
      const hash = await wired(inTurn(() => client.writeContract(call)));
      await wired(mined(hash));
      return hash;
    },
    deploy: async (contract: Contract, args: Args): Promise<Hex> => {
      const hash = await wired(inTurn(() => client.deployContract({ ...made[contract], args, chain: null })));
      const { contractAddress } = await wired(mined(hash));
      return lower(contractAddress ?? '0x');
    },
    /** The same key for x402, which brings its own ABI and reads viem's errors. */
    facilitator: () => ({
      getAddresses: () => [account.address],
      getCode: (at: { readonly address: Hex }) => client.getCode(at),
      readContract: (call: Call) => client.readContract(call as Parameters<typeof client.readContract>[0]),
      verifyTypedData: (said: object) => client.verifyTypedData(said as Parameters<typeof client.verifyTypedData>[0]),
      writeContract: (call: Call) =>
        inTurn(() => client.writeContract({ ...call, chain: null } as Parameters<typeof client.writeContract>[0])),
      sendTransaction: (given: { readonly to: Hex; readonly data: Hex }) =>
        inTurn(() => client.sendTransaction({ ...given, chain: null })),
      waitForTransactionReceipt: (given: { readonly hash: Hex; readonly timeout?: number }) =>
        client.waitForTransactionReceipt(given),
    }),
  };
}

interface Sent {
  readonly from: Hex;
  readonly nonce: Hex;
  /** Block. */
  readonly since: bigint;
}

/** Who sent an authorization since that block, and whom it paid: the token tells of the transfer right behind. */
async function settledBy(
  viem: Viem,
  { client, token, address }: { readonly client: PublicActions; readonly token: Abi; readonly address: Hex },
  { from, nonce, since }: Sent,
): Promise<readonly { readonly by: Hex; readonly to: Hex; readonly value: bigint }[]> {
  const last = await client.getBlockNumber();
  const paid: { by: Hex; to: Hex; value: bigint }[] = [];
  for (let fromBlock = since; fromBlock <= last; fromBlock += BLOCKS) {
    const toBlock = fromBlock + BLOCKS - 1n;
    const asked = { address, abi: token, eventName: 'AuthorizationUsed', args: { authorizer: from, nonce } } as const;
    const found = await client.getContractEvents({ ...asked, fromBlock, toBlock: toBlock < last ? toBlock : last });
    for (const { transactionHash, logIndex } of found) {
      const receipt = await client.getTransactionReceipt({ hash: transactionHash });
      const next = receipt.logs.filter((log) => log.logIndex === logIndex + 1 && lower(log.address) === address);
      for (const event of viem.parseEventLogs({ abi: token, eventName: 'Transfer', logs: next })) {
        const { to, value } = (event as unknown as { readonly args: { readonly to: Hex; readonly value: bigint } })
          .args;
        paid.push({ by: lower(receipt.from), to: lower(to), value });
      }
    }
  }
  return paid;
}

interface Call {
  readonly address: Hex;
  readonly abi: readonly unknown[];
  readonly functionName: string;
  readonly args?: Args;
}

/** Another process with this key may take the number before us: nothing was sent then. */
const TRIES = 5;

/** The number of a transaction is taken when the one before has its own. */
function queue(isTaken: (error: unknown) => boolean) {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const tried = async (left: number): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        if (left > 1 && isTaken(error)) return tried(left - 1);
        throw error;
      }
    };
    const mine = last.then(() => tried(TRIES));
    last = mine.catch(() => undefined);
    return mine;
  };
}

type Viem = Awaited<ReturnType<typeof parts>>['viem'];

/** What viem throws, for a person. */
function told(viem: Viem, rpc: string, cause: unknown): unknown {
  if (!(cause instanceof viem.BaseError)) return cause;
  const refusal = cause.walk((error) => error instanceof viem.ContractFunctionRevertedError);
  if (refusal instanceof viem.ContractFunctionRevertedError) {
    const { data, reason, signature } = refusal;
    const args = data?.args?.length ? `(${data.args.join(', ')})` : '';
    const named = data === undefined ? (signature ?? 'without a reason') : `${data.errorName}${args}`;
    return reverted(reason ?? named, cause);
  }
  const isSilent = cause.walk((error) => error instanceof viem.HttpRequestError || error instanceof viem.TimeoutError);
  if (isSilent === null) {
    const fix = 'The node says what is wrong; most often the key has no gas money: send it some.';
    return new TalariaError(cause.shortMessage, { code: 'chain-refused', cause, fix });
  }
  return new TalariaError(`the chain at ${URL.parse(rpc)?.host ?? rpc} does not answer`, {
    ...{ code: 'chain-down', retryable: true, cause },
    fix: 'Look whether market.rpc is right and can be reached; what waits for the chain goes on by itself.',
  });
}

function reverted(why: string, cause: unknown): TalariaError {
  return new TalariaError(`the contract refused: ${why}`, {
    ...{ code: 'reverted', cause },
    fix: 'Look at the state of the job and at the balance; the same call is refused again.',
  });
}

/** An address as this market writes it. */
export function lower(address: Hex): Hex {
  return address.toLowerCase() as Hex;
}
