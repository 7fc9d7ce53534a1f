/**
 * Why a signed request is refused. `bad_algorithm` and `bad_key` have problem types of their own in RFC 8555 §6.7; `signature` and `url` are unauthorized,
 * `malformed` is the client's mistake.
 */
export type JwsFault = 'malformed' | 'bad_algorithm' | 'bad_key' | 'signature' | 'url';

/** The request isn't a JWS as RFC 8555 §6.2 wants it. The message is a sentence for the client. */
export class JwsRefused extends Error {
  readonly reason: JwsFault;
  constructor(reason: JwsFault, message: string) {
    super(message);
    this.name = 'JwsRefused';
    this.reason = reason;
  }
}
