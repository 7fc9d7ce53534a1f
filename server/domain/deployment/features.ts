import type { Family } from '#server/kernel/family.ts';
import type { env as settings } from '#server/platform/env.ts';
import type { ParityAudit } from './schema.ts';

type Feature = ParityAudit['features'][number];
type Env = typeof settings;

/** What is in this build is there in full: one line per family with an API of its own. */
export const builtIn = (families: readonly Family[]): Feature[] =>
  families.flatMap(({ name, tag }) => (tag ? [{ key: name.replaceAll('-', '_'), name: tag, status: 'full' as const, note: null }] : []));

type Provided = { key: string; name: string; of: (env: Env) => Pick<Feature, 'status' | 'note'> };
const provided = (note: string) => ({ status: 'customer_provided' as const, note });
const reduced = (note: string) => ({ status: 'reduced' as const, note });

/** What a deployment gets from its operator, judged by the settings that the code itself reads. */
const PROVIDED: readonly Provided[] = [
  {
    key: 'mail',
    name: 'Outgoing email',
    of: ({ SMTP_URL }) =>
      SMTP_URL
        ? provided('Sent through the SMTP server of the operator.')
        : reduced('Set SMTP_URL. Until then, emails stay on the mailbox page.'),
  },
  {
    key: 'geography',
    name: 'Countries of callers',
    of: ({ GEOIP_DB_PATH }) =>
      GEOIP_DB_PATH
        ? provided('Looked up in the database that GEOIP_DB_PATH names.')
        : reduced('Set GEOIP_DB_PATH to a MaxMind database to see countries.'),
  },
  {
    key: 'payments',
    name: 'Payments',
    of: ({ BILLING_DRIVER }) =>
      BILLING_DRIVER === 'stripe'
        ? provided('Taken through the Stripe account of the operator.')
        : reduced('The operator sets plans. Set BILLING_DRIVER to take payments.'),
  },
  {
    key: 'root_key',
    name: 'Root encryption key',
    of: ({ MASTER_KEY_B64 }) =>
      provided(
        MASTER_KEY_B64 ? 'From the environment of the operator.' : 'From a file in the data directory. Back it up apart from the database.',
      ),
  },
  {
    key: 'shared_counters',
    name: 'Limits across several gateways',
    of: ({ SVC_GATEWAYS, REDIS_URL }) =>
      REDIS_URL
        ? provided('Counted in Redis.')
        : SVC_GATEWAYS > 1
          ? { status: 'full', note: 'Counted in PostgreSQL.' }
          : { status: 'full', note: 'One gateway counts in memory.' },
  },
  {
    key: 'custom_hosts',
    name: 'A host per workspace',
    of: ({ PROXY_PATH_MODE, PROXY_BASE_HOST }) =>
      PROXY_PATH_MODE
        ? reduced('Addresses are paths of one host. Set PROXY_BASE_HOST to a domain with wildcard DNS and TLS.')
        : provided(`DNS and TLS of *.${PROXY_BASE_HOST} are the operator’s.`),
  },
];

export const providedBy = (env: Env): Feature[] => PROVIDED.map(({ key, name, of }) => ({ key, name, ...of(env) }));
