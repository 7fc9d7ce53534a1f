import fs from 'node:fs';
import os from 'node:os';
import { rootCertificates } from 'node:tls';
import { type Agent, log, messageOf } from './agent.ts';
import { type Authority, createAuthority, createLeaves } from './authority.ts';
import { type ForwardProxy, startForwardProxy } from './forward-proxy.ts';
import type { Home } from './home.ts';
import { openSecret, storeAnswer } from './stores.ts';

/** Starts the forward proxy of this host with its own authority, made at the first start. */
export async function startIntercept(agent: Agent): Promise<ForwardProxy> {
  const proxy = await startForwardProxy(
    {
      manifest: () => agent.session.manifest(),
      token: () => agent.session.token(),
      agentId: agent.keys.agentId,
      leaf: createLeaves(authorityOf(agent.home)),
      counters: agent.counters,
      allowedUids: agent.settings.allowedUids,
      answerStore(rule) {
        try {
          const opened = openSecret(agent.session, rule.secret_id, rule.environment);
          return opened && storeAnswer(rule, opened.secret, opened.value);
        } catch (error) {
          agent.lastError = `A rule’s secret can’t be opened: ${messageOf(error)}`;
          log('error', agent.lastError);
          return undefined;
        }
      },
    },
    agent.settings.port,
  );
  agent.listeners.push({ port: proxy.port, protocol: 'http_proxy', open: true });
  log('info', `forward proxy on 127.0.0.1:${proxy.port}`);
  return proxy;
}

export function authorityOf(home: Home): Authority {
  const [certificate, privateKey] = [home.read('authority'), home.read('authorityKey')];
  if (certificate !== undefined && privateKey !== undefined) return { certificate, privateKey };
  const made = createAuthority(os.hostname());
  home.write('authorityKey', made.privateKey);
  home.write('authority', made.certificate);
  return made;
}

/** Lines for a shell or an environment file, so that programs of this host use the proxy and trust its certificates. */
export function environmentLines(home: Home, port: number): string {
  const { certificate } = authorityOf(home);
  home.write('trust', `${systemTrust()}\n${certificate}`);
  const trust = home.path('trust');
  return [
    `export HTTPS_PROXY=http://127.0.0.1:${port}`,
    `export https_proxy=http://127.0.0.1:${port}`,
    `export HTTP_PROXY=http://127.0.0.1:${port}`,
    `export http_proxy=http://127.0.0.1:${port}`,
    'export NO_PROXY=localhost,127.0.0.1,169.254.169.254',
    `export NODE_EXTRA_CA_CERTS=${home.path('authority')}`,
    'export NODE_USE_ENV_PROXY=1',
    `export SSL_CERT_FILE=${trust}`,
    `export CURL_CA_BUNDLE=${trust}`,
    `export REQUESTS_CA_BUNDLE=${trust}`,
    `export AWS_CA_BUNDLE=${trust}`,
  ].join('\n');
}

/** What this host trusts already: programs that take one file must find both in it. */
function systemTrust(): string {
  for (const file of ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem'])
    if (fs.existsSync(file)) return fs.readFileSync(file, 'utf8');
  return rootCertificates.join('\n');
}
