// Owns the list of what the market takes of viem, of the packages of x402 and of its compiled contracts, so that the bundle has no more of them. Loaded with the first chain.
// biome-ignore-start lint/correctness/noUndeclaredDependencies: the bundle has them, and nobody installs them
import { x402Client } from '@x402/core/client';
import { x402Facilitator } from '@x402/core/facilitator';
import {
  decodePaymentRequiredHeader,
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http';
import { ExactEvmScheme as ExactClient } from '@x402/evm/exact/client';
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator';
import {
  BaseError,
  ContractFunctionRevertedError,
  createWalletClient,
  encodeFunctionData,
  HttpRequestError,
  http,
  NonceTooLowError,
  parseAbi,
  parseEventLogs,
  publicActions,
  TimeoutError,
} from 'viem';
// biome-ignore-end lint/correctness/noUndeclaredDependencies: as above
import made from './contracts/artifacts.json' with { type: 'json' };

export const parts = {
  made,
  x402Client,
  x402Facilitator,
  decodePaymentRequiredHeader,
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
  encodePaymentSignatureHeader,
  ExactClient,
  ExactFacilitator,
  BaseError,
  ContractFunctionRevertedError,
  createWalletClient,
  encodeFunctionData,
  HttpRequestError,
  http,
  NonceTooLowError,
  parseAbi,
  parseEventLogs,
  publicActions,
  TimeoutError,
} as const;
