/**
 * The one list of what a credential looks like in free text (interface rules 01 §15 and 61 §2). Logs, traces, error
 * reports, captured payloads and audit details all pass through {@link redactCredentials}. A new prefix is added here first.
 */
const credentialPatterns = {
  api_key: /tk_(?:live|test)_[0-9A-Za-z]{12}_[0-9A-Za-z]{51}/,
  access_key: /AKE[A-Z2-7]{16}:[0-9A-Za-z]{40}/,
  oauth_access_token: /svc_(?:live|test)_[0-9A-Za-z]{49}/,
  oauth_refresh_token: /svcr_(?:live|test)_[0-9A-Za-z]{49}/,
  oauth_code: /svc[cd]_[0-9A-Za-z]{49}/,
  oauth_client_secret: /svcs_[0-9A-Za-z]{49}/,
  ai_token: /svcp_(?:live|test)_[arto]_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}/,
  session: /ses_[0-9A-Za-z]{49}/,
  step_up: /stp_[0-9A-Za-z_-]{43}/,
  scim: /scim_[0-9A-Za-z]{49}/,
  claim_handle: /sck_[0-9A-Za-z_-]{43}/,
  share_claim: /shc_[0-9A-Za-z_-]{43}/,
  gateway_token: /wkt_[a-z2-7]{52}/,
  gateway_host_label: /(?<![0-9A-Za-z-])[a-z2-7]{52}(?![0-9A-Za-z-])/,
  client_token: /kct_[0-9A-Za-z_-]{43}/,
  webhook_secret: /whsec_[0-9A-Za-z_-]{20,}/,
  agent_secret: /svc_as_[0-9A-Za-z_-]{43}/,
  agent_token: /svc_a[is]t_[0-9A-Za-z_-]{43}/,
  // Known by place, not by shape: mail links, invitations, consent state, capture and workflow hook URLs.
  link_token: /(?<=[?&#;](?:token|state)=)[0-9A-Za-z_%.~-]{8,}/,
  path_token: /(?<=\/(?:_capture|wf)\/|-capture\/)[0-9A-Za-z_-]{16,}/,
  // Providers: the secrets customers keep here.
  stripe: /(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{8,}/,
  github: /gh[pousr]_[0-9A-Za-z]{20,}|github_pat_[0-9A-Za-z_]{20,}/,
  aws: /(?<![0-9A-Za-z])(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])/,
  slack: /xox[abeoprs]-[0-9A-Za-z-]{8,}/,
  google: /AIza[0-9A-Za-z_-]{30,}/,
  model_provider: /(?<![0-9A-Za-z])sk-(?:ant-|proj-|or-)?[0-9A-Za-z_-]{20,}/,
  // Two to four more parts: signed (three parts) and encrypted (five parts) tokens, and ones cut off in the last part.
  jwt: /(?<![0-9A-Za-z_-])eyJ[0-9A-Za-z_-]{8,}(?:\.[0-9A-Za-z_-]*){2,4}/,
  // To the end of the text when the closing line is missing, so that a truncated key is not half shown.
  private_key: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/,
} as const satisfies Record<string, RegExp>;

/** What replaces a credential in text. */
export const redactedMark = '[redacted]';

const anyCredential = Object.values(credentialPatterns)
  .map((pattern) => `(?:${pattern.source})`)
  .join('|');
const everyCredential = new RegExp(anyCredential, 'g');
// Without the g flag test() keeps no position between calls.
const someCredential = new RegExp(anyCredential);

/** The text with every credential-shaped part replaced by `[redacted]`. Linear in the length of the text. */
export function redactCredentials(text: string): string {
  return text.replace(everyCredential, redactedMark);
}

/** Whether any part of the text is shaped like a credential. */
export function containsCredential(text: string): boolean {
  return someCredential.test(text);
}

/** Where the credential-shaped parts are that begin at `from` or later, as UTF-16 offsets. */
export function findCredentials(text: string, from = 0): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  everyCredential.lastIndex = from;
  for (let match = everyCredential.exec(text); match; match = everyCredential.exec(text))
    found.push({ start: match.index, end: match.index + match[0].length });
  return found;
}

export type CredentialKind = keyof typeof credentialPatterns;
/** The first kind of credential that a part of the text is shaped like. */
export const credentialKind = (text: string): CredentialKind | undefined =>
  containsCredential(text)
    ? (Object.keys(credentialPatterns) as CredentialKind[]).find((kind) => credentialPatterns[kind].test(text))
    : undefined;
