// Owns payment by x402 (hierarchy notes B2, C22), on both sides: the till of a shop, which says what it takes and settles what was signed, and the
// purse of a buyer, which signs what fits the owner's limits. Two schemes: `exact` of the packages, to the listing's splitter at once, and
// `erc8183`, into an escrow job by one ERC-3009 signature whose nonce is the hash of the job's terms. Knows no listing and no row. Invariants: only an offer
// that was made is taken; nothing is signed above a limit, for another asset, chain or payee; one signature pays once.
import type {
  PaymentPayload,
  PaymentRequired,
  PaymentRequirements,
  SchemeNetworkClient,
  SchemeNetworkFacilitator,
  SettleResponse,
  VerifyResponse,
} from '@x402/core/types';
import { errorText, TalariaError } from '#base/errors.ts';
import { accountOf, type Hex } from '#base/ethereum.ts';
import { canonicalJson, isJsonObject, type JsonValue, objectOf, parseJson, textOf } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Chain, Terms } from './chain.ts';

export type { PaymentRequired };

export const ZERO: Hex = '0x0000000000000000000000000000000000000000';
const VERSION = 2;
/** A payment is good for so long, s. */
const VALID_S = 600;
const MOST_VALID_S = 3_600;
const HEX = /^0x[0-9a-f]+$/;

export type Via = 'direct' | 'escrow';
const SCHEMES = { direct: 'exact', escrow: 'erc8183' } as const;

/** What one payment is for. */
export interface Offered {
  readonly via: Via;
  /** Micro-USDC. */
  readonly amount: bigint;
  /** Splitter of the listing. */
  readonly payTo: Hex;
  /** `0x0…`: the buyer decides whether he got what was described. */
  readonly evaluator: Hex;
  /** Time for delivery and decision, s. */
  readonly jobSeconds: number;
}

export interface Signed {
  readonly via: Via;
  readonly payer: Hex;
  readonly amount: bigint;
  /** Names the payment: the nonce of what was signed. */
  readonly nonce: Hex;
  /** Of escrow: the job that it opens. */
  readonly terms?: Terms;
  readonly description?: string;
}

export interface Till {
  /** The body of a 402, and its header. */
  required(
    url: string,
    offers: readonly Offered[],
    error?: string,
  ): Promise<{ readonly body: PaymentRequired; readonly header: string }>;
  /** What a buyer's header says that he signed, when it is for one of these offers. */
  read(
    header: string,
    offers: readonly Offered[],
  ): Promise<Result<Signed & { readonly payload: string }, 'no-payment' | 'no-such-offer'>>;
  /** Why it would not be taken; undefined: it would. */
  verify(payload: string): Promise<string | undefined>;
  /** Takes the money. A second time: refused, nothing moves. */
  settle(payload: string): Promise<Result<{ readonly job?: bigint; readonly header: string }, 'unpaid'>>;
}

/** Whoever keeps the till pays the gas. */
export async function openTill(chain: Chain): Promise<Till> {
  const { parts } = await import('./parts.ts');
  const network = networkOf(chain);
  const facilitator = new parts.x402Facilitator();
  facilitator.register(network, new parts.ExactFacilitator(chain.facilitator()));
  facilitator.register(network, escrowFacilitator(chain));
  const token = await chain.domain();
  const accepts = (offers: readonly Offered[]) => offers.map((offer) => requirement(chain, token, offer));
  return {
    required: async (url, offers, error) => {
      const body = {
        x402Version: VERSION,
        error: error ?? 'payment required',
        resource: { url, mimeType: 'application/json' },
        accepts: accepts(offers),
      };
      return { body, header: parts.encodePaymentRequiredHeader(body) };
    },
    read: async (header, offers) => {
      const payload = decoded(parts.decodePaymentSignatureHeader, header);
      if (payload === undefined) return refuse('no-payment', 'PAYMENT-SIGNATURE holds no payment of x402, version 2');
      const wanted = canonicalJson(payload.accepted as unknown as JsonValue);
      const offer = accepts(offers).find((one) => canonicalJson(one as unknown as JsonValue) === wanted);
      const signed = offer === undefined ? undefined : signedBy(payload);
      if (signed === undefined)
        return refuse(
          'no-such-offer',
          'What was signed is for no offer that is made here: ask again, and pay what it says.',
        );
      return ok({ ...signed, payload: JSON.stringify(payload) });
    },
    verify: async (payload) => {
      const paid = objectOf(known(payload)) as unknown as PaymentPayload;
      const { isValid, invalidReason } = await facilitator.verify(paid, paid.accepted);
      return isValid ? undefined : (invalidReason ?? 'unexpected_verify_error');
    },
    settle: async (payload) => {
      const paid = objectOf(known(payload)) as unknown as PaymentPayload;
      const settled = await facilitator
        .settle(paid, paid.accepted)
        .catch((error: unknown) => failed(chain, errorText(error)));
      if (!settled.success) return refuse('unpaid', settled.errorReason ?? 'unexpected_settle_error');
      const job = settled.extra?.job;
      const header = parts.encodePaymentResponseHeader(settled);
      return ok({ ...(typeof job === 'string' ? { job: BigInt(job) } : {}), header });
    },
  };
}

function requirement(
  chain: Chain,
  token: { readonly name: string; readonly version: string },
  offer: Offered,
): PaymentRequirements {
  const { escrow } = chain.places;
  const { name, version } = token;
  const own =
    offer.via === 'direct'
      ? {}
      : {
          escrow,
          evaluator: offer.evaluator,
          jobSeconds: offer.jobSeconds,
          assetTransferMethod: 'eip3009',
          paymentFlow: 'escrow',
        };
  return {
    ...{
      scheme: SCHEMES[offer.via],
      network: networkOf(chain),
      amount: String(offer.amount),
      asset: chain.places.token,
    },
    ...{ payTo: offer.payTo, maxTimeoutSeconds: VALID_S, extra: { name, version, ...own } },
  };
}

function networkOf(chain: Chain): `eip155:${number}` {
  return `eip155:${chain.places.chainId}`;
}

function decoded(decode: (header: string) => PaymentPayload, header: string): PaymentPayload | undefined {
  try {
    const payload = decode(header);
    return payload.x402Version === VERSION && isJsonObject(payload.payload) && isJsonObject(payload.accepted)
      ? payload
      : undefined;
  } catch {
    // No base64, no JSON, or no payment.
    return undefined;
  }
}

/** Of a payload; whether its signature holds is seen when it is settled. */
function signedBy({ accepted, payload }: PaymentPayload): Signed | undefined {
  const amount = BigInt(accepted.amount);
  if (accepted.scheme === SCHEMES.direct) {
    const { from, nonce } = objectOf(payload.authorization);
    return isHex(from, 40) && isHex(nonce, 64)
      ? { via: 'direct', payer: lower(from), amount, nonce: lower(nonce) }
      : undefined;
  }
  const read = escrowPayload(payload);
  if (read === undefined) return undefined;
  const { terms, description, nonce } = read;
  return { via: 'escrow', payer: terms.client, amount, nonce, terms, description };
}

interface EscrowPayload {
  readonly terms: Terms;
  readonly description: string;
  readonly nonce: Hex;
  readonly authorization: { readonly validAfter: bigint; readonly validBefore: bigint; readonly signature: Hex };
}

function escrowPayload(payload: unknown): EscrowPayload | undefined {
  const { terms, description, nonce, authorization } = objectOf(payload);
  const { client, provider, evaluator, budget, expiredAt } = objectOf(terms);
  const { validAfter, validBefore, signature } = objectOf(authorization);
  const addresses = [client, provider, evaluator];
  const numbers = [budget, expiredAt, validAfter, validBefore].map((one) =>
    /^\d{1,30}$/.test(textOf(one)) ? BigInt(textOf(one)) : undefined,
  );
  const [funds, expiry, after, before] = numbers;
  const areNumbers =
    funds !== undefined && expiry !== undefined && after !== undefined && before !== undefined && expiry < 2n ** 48n;
  if (!(addresses.every((one) => isHex(one, 40)) && areNumbers && isHex(nonce, 64) && isHex(signature)))
    return undefined;
  if (typeof description !== 'string' || description.length > 200) return undefined;
  return {
    terms: {
      client: lower(client),
      provider: lower(provider),
      evaluator: lower(evaluator),
      budget: funds,
      expiredAt: Number(expiry),
    },
    ...{
      description,
      nonce: lower(nonce),
      authorization: { validAfter: after, validBefore: before, signature: lower(signature) },
    },
  };
}

function known(json: string): unknown {
  const read = parseJson(json);
  return read.ok ? read.value : undefined;
}

function isHex(value: unknown, digits?: number): value is Hex {
  return (
    typeof value === 'string' &&
    HEX.test(value.toLowerCase()) &&
    (digits === undefined ? value.length < 20_000 : value.length === digits + 2)
  );
}

function lower(value: unknown): Hex {
  return textOf(value).toLowerCase() as Hex;
}

function failed(chain: Chain, errorReason: string): SettleResponse {
  return { success: false, errorReason, transaction: '', network: networkOf(chain) };
}

/** The scheme `erc8183`, where the money is taken. In a flow of escrow nobody verifies before: `settle` refuses by itself. */
function escrowFacilitator(chain: Chain): SchemeNetworkFacilitator {
  const verify = async (payload: PaymentPayload, wanted: PaymentRequirements): Promise<VerifyResponse> => {
    const read = escrowPayload(payload.payload);
    if (read === undefined) return { isValid: false, invalidReason: 'invalid_payload' };
    const invalidReason = await whyNot(chain, read, wanted);
    return {
      isValid: invalidReason === undefined,
      payer: read.terms.client,
      ...(invalidReason === undefined ? {} : { invalidReason }),
    };
  };
  return {
    scheme: SCHEMES.escrow,
    caipFamily: 'eip155:*',
    getExtra: () => undefined,
    getSigners: () => [chain.me],
    verify,
    settle: async (payload, wanted) => {
      const { isValid, invalidReason } = await verify(payload, wanted);
      const read = escrowPayload(payload.payload);
      if (!isValid || read === undefined) return failed(chain, invalidReason ?? 'invalid_payload');
      try {
        const job = await chain.fund(read.terms, read.description, read.authorization);
        const payer = read.terms.client;
        return {
          success: true,
          payer,
          transaction: read.nonce,
          network: networkOf(chain),
          extra: { job: String(job) },
        };
      } catch (error) {
        if (error instanceof TalariaError && error.code === 'reverted')
          return failed(chain, 'invalid_transaction_state');
        throw error;
      }
    },
  };
}

async function whyNot(
  chain: Chain,
  { terms, description, nonce, authorization }: EscrowPayload,
  wanted: PaymentRequirements,
): Promise<string | undefined> {
  const evaluator = wanted.extra.evaluator === ZERO ? terms.client : lower(wanted.extra.evaluator);
  const now = await chain.now();
  if (String(terms.budget) !== wanted.amount) return 'invalid_exact_evm_payload_authorization_value_mismatch';
  if (terms.provider !== lower(wanted.payTo)) return 'invalid_exact_evm_payload_recipient_mismatch';
  if (terms.evaluator !== evaluator) return 'invalid_payment_requirements';
  // A minute for the way; a job that ends sooner could not be delivered.
  if (
    terms.expiredAt < now + Number(wanted.extra.jobSeconds) / 2 ||
    terms.expiredAt > now + Number(wanted.extra.jobSeconds) + VALID_S
  )
    return 'invalid_payload';
  if (authorization.validAfter > BigInt(now)) return 'invalid_exact_evm_payload_authorization_valid_after';
  if (authorization.validBefore <= BigInt(now)) return 'invalid_exact_evm_payload_authorization_valid_before';
  if ((await chain.nonceOf(terms, description)) !== nonce) return 'invalid_payload';
  if ((await chain.jobOf(nonce)) !== undefined) return 'invalid_transaction_state';
  if ((await chain.balance(terms.client)) < terms.budget) return 'insufficient_funds';
  return (await chain.wouldFund(terms, description, authorization)) ? undefined : 'invalid_exact_evm_payload_signature';
}

/** What the owner allows, micro-USDC, and what is meant to be bought. */
export interface Wish {
  readonly via: Via;
  /** Absent: whoever asks. */
  readonly payTo?: Hex;
  readonly evaluator: Hex;
  /** The most that this may cost: the listing's price, and the owner's limit of one payment. */
  readonly most: bigint;
  /** Of the job, for escrow. */
  readonly description: string;
}

/**
 * Signs one of what a 402 asks for. Throws TalariaError `offer-refused`: nothing that was asked for is what was wished, and nothing was signed.
 * `header`: pays, as often as it is sent once; `validBefore`: epoch s, after it the signature pays nothing.
 * @param header `PAYMENT-REQUIRED`
 * @param key of the purse, 64 hex characters
 */
export async function signPayment(
  chain: Chain,
  key: string,
  header: string,
  wish: Wish,
): Promise<Signed & { readonly header: string; readonly validBefore: number }> {
  const { parts } = await import('./parts.ts');
  const required = requiredBy(parts.decodePaymentRequiredHeader, header);
  const network = networkOf(chain);
  const account = await accountOf(key);
  const client = new parts.x402Client();
  client.register(network, new parts.ExactClient(account as ConstructorParameters<typeof parts.ExactClient>[0]));
  client.register(network, escrowClient(chain, account, wish));
  const { token: asset } = chain.places;
  client.setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: String(wish.most) }] });
  client.registerPolicy((_version, offers) => offers.filter((offer) => isWished(chain, offer, wish)));
  const payload = await client.createPaymentPayload(required).catch((error: unknown) => {
    throw refusedOffer(errorText(error));
  });
  const signed = signedBy(payload);
  if (signed === undefined || signed.amount > wish.most) throw refusedOffer('what the packages signed cannot be read');
  const authorization = objectOf(payload.payload.authorization);
  return {
    ...signed,
    header: parts.encodePaymentSignatureHeader(payload),
    validBefore: Number(authorization.validBefore),
  };
}

function requiredBy(decode: (header: string) => PaymentRequired, header: string): PaymentRequired {
  try {
    const required = decode(header);
    // Of fifty offers nobody reads the last ones.
    return { ...required, accepts: required.accepts.slice(0, 16) };
  } catch (cause) {
    throw new TalariaError('the 402 holds no offer of x402', {
      code: 'offer-refused',
      cause,
      fix: 'The shop speaks another protocol: nothing was signed.',
    });
  }
}

function refusedOffer(why: string): TalariaError {
  return new TalariaError(`what the shop asks for is not what was wished: ${why}`, {
    ...{
      code: 'offer-refused',
      fix: 'Nothing was signed. Look at the price again, or raise market.direct_limit or market.limit in config.yaml.',
    },
  });
}

function isWished(chain: Chain, offer: PaymentRequirements, { via, payTo, evaluator, most }: Wish): boolean {
  const isWhere =
    offer.scheme === SCHEMES[via] &&
    offer.network === networkOf(chain) &&
    lower(offer.asset) === lower(chain.places.token);
  // A signature is good for so long: one that never ends would be a debt.
  const { maxTimeoutSeconds: valid } = offer;
  const isBounded = Number.isInteger(valid) && valid > 0 && valid <= MOST_VALID_S;
  const isPayee =
    isBounded &&
    (payTo === undefined || lower(offer.payTo) === lower(payTo)) &&
    /^\d{1,30}$/.test(offer.amount) &&
    BigInt(offer.amount) > 0n &&
    BigInt(offer.amount) <= most;
  if (!isWhere || !isPayee || via === 'direct') return isWhere && isPayee;
  const { escrow, evaluator: named, jobSeconds } = offer.extra;
  const isJob = lower(escrow) === lower(chain.places.escrow) && lower(named) === lower(evaluator);
  return isJob && typeof jobSeconds === 'number' && jobSeconds >= 60 && jobSeconds <= 30 * 86_400;
}

type Account = Awaited<ReturnType<typeof accountOf>>;

const RECEIVE = [
  ...['from address', 'to address', 'value uint256', 'validAfter uint256', 'validBefore uint256', 'nonce bytes32'],
].map((field) => ({ name: field.split(' ')[0] ?? '', type: field.split(' ')[1] ?? '' }));

/** The scheme `erc8183`, where the money is. */
function escrowClient(chain: Chain, account: Account, wish: Wish): SchemeNetworkClient {
  return {
    scheme: SCHEMES.escrow,
    createPaymentPayload: async (x402Version, offer) => {
      const now = await chain.now();
      const client = lower(account.address);
      const evaluator = wish.evaluator === ZERO ? client : lower(wish.evaluator);
      const terms: Terms = {
        client,
        provider: lower(offer.payTo),
        evaluator,
        budget: BigInt(offer.amount),
        expiredAt: now + Number(offer.extra.jobSeconds),
      };
      const nonce = await chain.nonceOf(terms, wish.description);
      const [validAfter, validBefore] = [BigInt(Math.max(0, now - VALID_S)), BigInt(now + VALID_S)];
      const signature = await account.signTypedData({
        domain: await chain.domain(),
        types: { ReceiveWithAuthorization: RECEIVE },
        primaryType: 'ReceiveWithAuthorization',
        message: { from: client, to: chain.places.escrow, value: terms.budget, validAfter, validBefore, nonce },
      });
      const spelled = { ...terms, budget: String(terms.budget), expiredAt: String(terms.expiredAt) };
      const authorization = { validAfter: String(validAfter), validBefore: String(validBefore), signature };
      return { x402Version, payload: { terms: spelled, description: wish.description, nonce, authorization } };
    },
  };
}
