/** A jump host. Its address passes the guard; where it forwards to is its own network. */
export type SshTarget = {
  host: string;
  port: number;
  username: string;
  privateKey: string;
  passphrase?: string | undefined;
  /** `SHA256:` and 43 characters of base64; null pins nothing yet and accepts the key shown. */
  fingerprint: string | null;
};

export const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/;
