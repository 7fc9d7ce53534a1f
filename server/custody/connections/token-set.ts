/** The sealed value of an oauth2 secret: the client's credentials and, while it is connected, its tokens. */
export type TokenSet = {
  client_secret?: string | undefined;
  username?: string | undefined;
  password?: string | undefined;
  access_token?: string | undefined;
  refresh_token?: string | undefined;
  /** As the provider wrote it. */
  token_type?: string | undefined;
  /** What was granted, if the provider said. */
  scope?: string | undefined;
};

/**
 * The bytes that are sealed: the length of the access token, the token, and everything else as JSON. Calls read the token alone, which costs them what a
 * plain value costs. The bytes are the caller's to wipe.
 */
export function encodeTokenSet({ access_token = '', ...rest }: TokenSet): Buffer {
  const token = Buffer.from(access_token);
  const json = Buffer.from(JSON.stringify(rest));
  const bytes = Buffer.allocUnsafeSlow(4 + token.length + json.length);
  bytes.writeUInt32BE(token.length, 0);
  token.copy(bytes, 4);
  json.copy(bytes, 4 + token.length);
  token.fill(0);
  json.fill(0);
  return bytes;
}

/** The access token, '' when there is none. */
export const accessTokenIn = (bytes: Buffer): string => bytes.toString('utf8', 4, 4 + bytes.readUInt32BE(0));

export function decodeTokenSet(bytes: Buffer): TokenSet {
  const access_token = accessTokenIn(bytes);
  const rest = JSON.parse(bytes.toString('utf8', 4 + bytes.readUInt32BE(0))) as TokenSet;
  return access_token === '' ? rest : { ...rest, access_token };
}
