/** The error types of RFC 8555 §6.7 that this server uses, with their status. Their URN is `urn:ietf:params:acme:error:` and the name. */
export const PROBLEM_STATUS = {
  accountDoesNotExist: 400,
  alreadyRevoked: 400,
  badCSR: 400,
  badNonce: 400,
  badPublicKey: 400,
  badRevocationReason: 400,
  badSignatureAlgorithm: 400,
  connection: 400,
  dns: 400,
  externalAccountRequired: 403,
  incorrectResponse: 403,
  invalidContact: 400,
  malformed: 400,
  orderNotReady: 403,
  rateLimited: 429,
  rejectedIdentifier: 403,
  serverInternal: 500,
  tls: 400,
  unauthorized: 403,
  unsupportedContact: 400,
  unsupportedIdentifier: 400,
} as const;
export type ProblemType = keyof typeof PROBLEM_STATUS;

export type Identifier = { type: 'dns'; value: string };

/** A problem document as it is stored and sent (RFC 7807; RFC 8555 §6.7). */
export type ProblemDocument = {
  type: string;
  detail: string;
  status?: number;
  identifier?: { type: string; value: string };
  subproblems?: ProblemDocument[];
  algorithms?: readonly string[];
};

type More = {
  /** Of the answer, when it isn't the usual one of the type. */
  status?: number;
  subproblems?: ProblemDocument[];
  algorithms?: readonly string[];
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
};

/** What an ACME client is refused for. The message is a sentence for the person who reads its log. */
export class AcmeProblem extends Error {
  readonly type: ProblemType;
  readonly status: number;
  readonly more: More;
  constructor(type: ProblemType, message: string, more: More = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'AcmeProblem';
    this.type = type;
    this.status = more.status ?? PROBLEM_STATUS[type];
    this.more = more;
  }
}

export const documentOf = ({ type, message, status, more }: AcmeProblem): ProblemDocument => ({
  ...problem(type, message),
  status,
  ...(more.subproblems ? { subproblems: more.subproblems } : {}),
  ...(more.algorithms ? { algorithms: more.algorithms } : {}),
});

/** A problem inside of another, or of a challenge. */
export const problem = (type: ProblemType, detail: string, identifier?: { type: string; value: string }): ProblemDocument => ({
  type: `urn:ietf:params:acme:error:${type}`,
  detail,
  ...(identifier ? { identifier } : {}),
});

export const malformed = (detail: string): AcmeProblem => new AcmeProblem('malformed', detail);
export const unauthorized = (detail: string): AcmeProblem => new AcmeProblem('unauthorized', detail);
/** The one answer for what doesn't exist and what belongs to another account: which of them it is isn't told. */
export const notThere = (): AcmeProblem => new AcmeProblem('malformed', 'There is no such resource of this account.', { status: 404 });
