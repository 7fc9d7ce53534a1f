import { getDomainWithoutSuffix } from 'tldts';

type Service = { name: string; header_name?: string; value_prefix?: string };

/** APIs that are known by their host: what they are called, and where they want their key when that isn't `Authorization: Bearer`. */
const SERVICES: Readonly<Record<string, Service>> = {
  'api.stripe.com': { name: 'stripe' },
  'api.openai.com': { name: 'openai' },
  'api.anthropic.com': { name: 'anthropic', header_name: 'x-api-key', value_prefix: '' },
  'generativelanguage.googleapis.com': { name: 'gemini', header_name: 'x-goog-api-key', value_prefix: '' },
  'api.mistral.ai': { name: 'mistral' },
  'api.cohere.com': { name: 'cohere' },
  'api.groq.com': { name: 'groq' },
  'api.hubapi.com': { name: 'hubspot' },
  'api.resend.com': { name: 'resend' },
  'api.sendgrid.com': { name: 'sendgrid' },
  'api.postmarkapp.com': { name: 'postmark', header_name: 'X-Postmark-Server-Token', value_prefix: '' },
  'api.mailgun.net': { name: 'mailgun', value_prefix: 'Basic ' },
  'api.twilio.com': { name: 'twilio', value_prefix: 'Basic ' },
  'slack.com': { name: 'slack' },
  'api.github.com': { name: 'github' },
  'gitlab.com': { name: 'gitlab', header_name: 'PRIVATE-TOKEN', value_prefix: '' },
  'api.linear.app': { name: 'linear', value_prefix: '' },
  'api.notion.com': { name: 'notion' },
  'api.airtable.com': { name: 'airtable' },
  'api.intercom.io': { name: 'intercom' },
  'a.klaviyo.com': { name: 'klaviyo', value_prefix: 'Klaviyo-API-Key ' },
  'api.cloudflare.com': { name: 'cloudflare' },
  'api.digitalocean.com': { name: 'digitalocean' },
  'api.vercel.com': { name: 'vercel' },
  'api.telegram.org': { name: 'telegram' },
  'api.datadoghq.com': { name: 'datadog', header_name: 'DD-API-KEY', value_prefix: '' },
  'api.pagerduty.com': { name: 'pagerduty', value_prefix: 'Token token=' },
  'sentry.io': { name: 'sentry' },
};

/** The label of a host, and the header its credential goes in. `observed` is a header that calls were seen with. */
export function serviceOf(host: string, observed?: string): { name: string; header_name: string; value_prefix: string } {
  const known = Object.hasOwn(SERVICES, host) ? SERVICES[host] : undefined;
  if (known) return { name: known.name, header_name: known.header_name ?? 'Authorization', value_prefix: known.value_prefix ?? 'Bearer ' };
  const name = getDomainWithoutSuffix(host, { allowPrivateDomains: false }) ?? host.split('.')[0] ?? host;
  if (observed !== undefined && observed !== 'authorization') return { name, header_name: observed, value_prefix: '' };
  return { name, header_name: 'Authorization', value_prefix: 'Bearer ' };
}
