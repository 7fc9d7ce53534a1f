export { LosslessNumber } from '#server/kernel/lossless-json.ts';
export { createSallyport, type Envelope, type Sallyport, type SallyportOptions } from './client.ts';
export {
  accessToken,
  apiKey,
  type ClientCredentials,
  type Credential,
  clientCredentials,
  type Token,
  type WorkloadIdentity,
  workloadIdentity,
} from './credential.ts';
export { createDpopKey, type DpopKey, importDpopKey } from './dpop.ts';
export { ConnectionError, SallyportError } from './error.ts';
export { createGateway, type GatewayCall } from './gateway.ts';
export { createIntercept, type Decision, type Intercept, type InterceptOptions } from './intercept/intercept.ts';
export * as oauth from './oauth.ts';
export { paginate, paginateFeed } from './paginate.ts';
export { type WrapOptions, wrapFetch, wrapped } from './wrap.ts';
