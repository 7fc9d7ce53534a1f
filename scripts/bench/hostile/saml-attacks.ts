import type { Attack } from './attacks.ts';
import type { Workspaces } from './workspaces.ts';

const names = (count: number, name: (i: number) => string) => Array.from({ length: count }, (_, i) => name(i)).join('');
const beside = (xml: string, more: string) => xml.replace('<samlp:Status>', `${more}<samlp:Status>`);
const REFERENCE = /<ds:Reference .*?<\/ds:Reference>/s;

/** Signed responses of which an attacker, who needs no account for it, changes the shape. */
const SHAPES: Record<string, (honest: string) => string> = {
  'references and elements': (honest) => beside(honest, '<e/>'.repeat(22_000)).replace(REFERENCE, (one) => one.repeat(215)),
  'nested namespaces': (honest) => beside(honest, names(3_000, (i) => `<e xmlns:a${i}="urn:${i}">`) + '</e>'.repeat(3_000)),
  'as large as is let through': (honest) =>
    beside(
      honest,
      names(38, (i) => `<e ${names(13, (n) => ` xmlns:n${i}_${n}="urn:${i}:${n}"`)}>`) + '<e/>'.repeat(1_900) + '</e>'.repeat(38),
    ),
};

export const samlAttacks: readonly Attack[] = Object.entries(SHAPES).map(([name, shape]) => ({
  name: `SAML, ${name}`,
  prepare: async ({ ports, tenantId }: Workspaces) => {
    const { env } = await import('../../../server/platform/env.ts');
    const { samlProvider } = await import('../../../server/domain/sso/saml.fixture.ts');
    const operator = await import('../../../server/domain/operator/service.ts');
    const { entitled } = await import('../../entitled.ts');
    const { createConnection } = await import('../../../server/domain/sso/service.ts');
    const idp = await samlProvider({ acs: `${env.PUBLIC_ADMIN_URL}/auth/sso/acs` });
    const made = await createConnection(entitled(operator.operatorCtx(tenantId, 'live')), {
      kind: 'saml',
      name: name.slice(0, 40),
      metadata_xml: idp.metadata,
      allow_idp_initiated: true,
    });
    const to = { entity_id: made.service.entity_id, request_id: 'X' };
    const honest = (await idp.respond(to, { Email: 'anna@example.com' })).replaceAll(' InResponseTo="X"', '');
    const body = new URLSearchParams({ SAMLResponse: Buffer.from(shape(honest)).toString('base64') }).toString();
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'https://idp.example', 'Sec-Fetch-Site': 'cross-site' };
    return () => ({ url: `http://127.0.0.1:${ports.admin}/auth/sso/acs`, headers, body });
  },
}));
