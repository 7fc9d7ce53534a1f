import ipaddr from 'ipaddr.js';
import { type Env, withoutEffect } from '../../server/platform/env.ts';
import { type Finding, ok, warn } from './finding.ts';

/** What valid settings allow that an operator may not have meant. */
export function settingsFindings(env: Env, source: Readonly<Record<string, string | undefined>>): Finding[] {
  const findings = [ok(`${env.NODE_ENV}, roles ${env.SALLYPORT_ROLES.join(' ')}`)];
  if (env.NODE_ENV !== 'production' && env.PROXY_BASE_HOST !== 'localhost')
    findings.push(warn(`${env.PROXY_BASE_HOST} runs in ${env.NODE_ENV} mode`, 'Set NODE_ENV=production if others can reach it.'));
  if (env.SVC_GATEWAYS > 1 && !env.REDIS_URL)
    findings.push(warn(`${env.SVC_GATEWAYS} gateways share rate limits through PostgreSQL`, 'Set REDIS_URL for better performance.'));
  for (const { cidr, port } of env.UPSTREAM_PRIVATE_ALLOWLIST) {
    const reason = tooWide(cidr);
    if (reason)
      findings.push(
        warn(
          `UPSTREAM_PRIVATE_ALLOWLIST lets routes call ${cidr}${port === undefined ? '' : ` on port ${port}`}, ${reason}`,
          'List only the networks of your upstreams, such as 10.20.0.0/16.',
        ),
      );
  }
  for (const name of withoutEffect(source))
    findings.push(warn(`${name} has no effect in this release`, 'Unset it. It may take effect in a later release.'));
  return findings;
}

/** Where clouds give machines their credentials. */
const METADATA = ['169.254.169.254', 'fd00:ec2::254'];
/** The networks that are private as a whole: 10.0.0.0/8 and fc00::/7 are the widest. */
const WIDEST = { ipv4: 8, ipv6: 7 } as const;

function tooWide(cidr: string): string | undefined {
  const [base, bits] = ipaddr.parseCIDR(cidr);
  const covers = (address: string) => {
    const one = ipaddr.parse(address);
    return one.kind() === base.kind() && one.match(base, bits);
  };
  if (bits === 0) return 'which is every address: this machine, your network and the metadata service of your cloud';
  if (bits < WIDEST[base.kind()]) return 'which is more than any private network';
  return METADATA.some(covers) ? 'which includes the metadata service of your cloud and its credentials' : undefined;
}
