import { SvcError } from './error.ts';

export type ClientOptions = {
  /** Where the API of the space is; the host that this script came from when left out. */
  baseUrl?: string | undefined;
  fetch?: typeof fetch;
};

export type CardValue = { value: string; card_exp_month?: number; card_exp_year?: number };
export type VaultToken = { token: string; expires_at: string | null; card_expires_on: string | null };

/** Spends client tokens, each of which works once. It takes no other credential: an API key has no place in a page. */
export class SvcClient {
  readonly #base: string;
  readonly #fetch: typeof fetch;

  constructor({ baseUrl = import.meta.url, fetch = globalThis.fetch }: ClientOptions = {}) {
    this.#base = new URL(baseUrl).origin;
    this.#fetch = fetch.bind(globalThis);
  }

  /** Opens the sealed value that the token is bound to: a string, number, boolean, or whatever JSON was sealed. @throws SvcError */
  async reveal(token: string, ciphertext: string): Promise<unknown> {
    const { plaintext } = await this.#spend('decrypt', token, { data: ciphertext });
    return plaintext;
  }

  /** The value behind the vault token that the client token is bound to. @throws SvcError */
  async detokenize(token: string, vaultToken: string): Promise<string> {
    const { value } = await this.#spend('detokenize', token, { data: vaultToken });
    return value as string;
  }

  /** Puts a value into the vault that the client token is bound to. `parentOrigin` is for hosted fields, which send for the page around them. @throws SvcError */
  async tokenize(token: string, value: CardValue, parentOrigin?: string): Promise<VaultToken> {
    return (await this.#spend('tokenize', token, value, parentOrigin)) as VaultToken;
  }

  /**
   * Whether the token is of this workspace, for this action and page, and can be spent. Spends nothing. For hosted fields. A machine of a release without this
   * endpoint answers 404 while an upgrade goes on. That counts as "try again", not as checked: nothing is sent on the word of a machine that couldn't check,
   * and a proxy that blocks the path doesn't quietly take the check away. @throws SvcError
   */
  async check(token: string, of: { workspace: string; action: string }, parentOrigin: string): Promise<void> {
    await this.#spend('check', token, of, parentOrigin).catch((error: SvcError) => {
      if (error.status !== 404) throw error;
      throw new SvcError(
        'dependency_unavailable',
        "The client token can't be checked while the service is upgraded. Try again in a minute.",
        {
          status: 404,
          request_id: error.request_id,
        },
      );
    });
  }

  async #spend(action: string, token: string, body: object, parentOrigin?: string): Promise<Record<string, unknown>> {
    if (typeof token !== 'string' || !/^kct_[A-Za-z0-9_-]{43}$/.test(token))
      throw new SvcError('invalid_client_token', 'A client token starts with kct_. Nothing was sent. Never put an API key into a page.');
    const response = await this.#fetch(`${this.#base}/v1/client/${action}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(parentOrigin && { 'x-svc-parent-origin': parentOrigin }),
      },
      body: JSON.stringify(body),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    }).catch(() => {
      throw new SvcError('connection_failed', 'The service could not be reached. Check the connection and try again.');
    });
    const answer = (await response.json().catch(() => null)) as { data?: Record<string, unknown>; error?: Refusal } | null;
    if (response.ok && answer?.data) return answer.data;
    const {
      type = 'unexpected_answer',
      message = 'The service gave an unexpected answer. Try again.',
      request_id = null,
    } = answer?.error ?? {};
    throw new SvcError(type, message, { status: response.status, request_id });
  }
}

type Refusal = { type?: string; message?: string; request_id?: string | null };
