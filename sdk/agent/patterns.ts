// Credentials and addresses that scans look for.

export type CredentialKind = { kind: string; pattern: RegExp };

/** Each pattern is the whole credential, with a start that is the vendor's. */
export const CREDENTIALS: readonly CredentialKind[] = [
  { kind: 'aws_access_key', pattern: /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g },
  { kind: 'stripe_key', pattern: /\b[sr]k_(?:live|test)_[A-Za-z0-9]{20,120}\b/g },
  { kind: 'github_token', pattern: /\bgh[pousr]_[A-Za-z0-9]{36,80}\b/g },
  { kind: 'github_token', pattern: /\bgithub_pat_[A-Za-z0-9_]{60,100}\b/g },
  { kind: 'gitlab_token', pattern: /\bglpat-[A-Za-z0-9_-]{20,60}\b/g },
  { kind: 'slack_token', pattern: /\bxox[abprs]-[A-Za-z0-9-]{20,120}\b/g },
  { kind: 'openai_key', pattern: /\bsk-(?:proj-|svcacct-)[A-Za-z0-9_-]{20,200}\b/g },
  { kind: 'anthropic_key', pattern: /\bsk-ant-[A-Za-z0-9_-]{20,200}\b/g },
  { kind: 'google_api_key', pattern: /\bAIza[A-Za-z0-9_-]{35}\b/g },
  { kind: 'sendgrid_key', pattern: /\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}/g },
  { kind: 'twilio_key', pattern: /\bSK[0-9a-f]{32}\b/g },
  { kind: 'npm_token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { kind: 'private_key', pattern: /-----BEGIN (?:RSA |EC |OPENSSH |ENCRYPTED )?PRIVATE KEY-----/g },
  {
    kind: 'database_url',
    pattern: /\b(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis(?:s)?|amqps?):\/\/[^\s:@/'"]{0,100}:[^\s@'"]{3,200}@[^\s'"]{3,300}/g,
  },
];

/** A variable whose name says that its value is a secret. */
export const SECRET_NAME = /(?:^|_)(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY|CREDENTIALS?)(?:_|$)/i;

/** Addresses of APIs that code often has written into it. */
export const API_HOSTS: Readonly<Record<string, string>> = {
  'api.openai.com': 'OpenAI',
  'api.anthropic.com': 'Anthropic',
  'api.stripe.com': 'Stripe',
  'api.github.com': 'GitHub',
  'api.twilio.com': 'Twilio',
  'api.sendgrid.com': 'SendGrid',
  'slack.com': 'Slack',
  'api.mailgun.net': 'Mailgun',
  'api.cloudflare.com': 'Cloudflare',
  'generativelanguage.googleapis.com': 'Gemini',
  'api.mistral.ai': 'Mistral',
  'api.hubapi.com': 'HubSpot',
  'api.notion.com': 'Notion',
};
