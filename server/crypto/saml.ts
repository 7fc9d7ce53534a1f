import { X509Certificate } from 'node:crypto';
import { SAML, type SamlConfig, ValidateInResponseTo } from '@node-saml/node-saml';
import { parseDomFromString, xpath } from '@node-saml/node-saml/lib/xml.js';
import { trimEnd } from '#server/kernel/trim-end.ts';
import { isOnUnnamedCurve } from './named-curve.ts';
import { randomBuffer } from './random.ts';
import { overBounds, type XmlBounds } from './xml-shape.ts';

// SAML 2.0, Web Browser SSO profile: AuthnRequest by redirect, response by POST. The library verifies signatures and times; the shape of the document and
// everything that ties it to one sign-in are judged here, on the signed assertion alone.

export type SamlProvider = { entity_id: string; sso_url: string; certificates: readonly string[] };
export type SamlService = { entity_id: string; acs_url: string };

export type SamlIdentity = {
  issuer: string;
  subject: string;
  email: string | null;
  name: string | null;
  /** Authentication context classes that the provider asserts. */
  contexts: string[];
  assertion_id: string;
  /** Until then the assertion must not be accepted again. */
  expires_at: Date;
};

export type SamlProblem = 'provider_error' | 'expired' | 'assertion_invalid';
export class SamlRefused extends Error {
  readonly reason: SamlProblem;
  constructor(reason: SamlProblem, message: string) {
    super(message);
    this.name = 'SamlRefused';
    this.reason = reason;
  }
}

const SKEW_MS = 60_000;
const LONGEST_LIFE_MS = 24 * 3_600_000;
const LONGEST_RESPONSE = 256 * 1024;
/** An assertion with some hundred attributes has a quarter of these. Each `AttributeValue` may declare its own namespaces, so that eight or so are in scope. */
const RESPONSE: XmlBounds = { elements: 2_000, depth: 40, attributes: 2_000, namespaces: 500, scope: 20_000 };
const METADATA: XmlBounds = RESPONSE;

/** An ID of XML (no digit in front), 160 bits. */
export const newRequestId = (): string => `_${randomBuffer(20).toString('hex')}`;

/** Where the browser goes with an AuthnRequest of this ID. */
export const authnRequestUrl = (idp: SamlProvider, sp: SamlService, request: { id: string; relay_state: string }): Promise<string> =>
  library(idp, sp, { generateUniqueId: () => request.id }).getAuthorizeUrlAsync(request.relay_state, undefined, {});

/** What an administrator gives the provider (SAML metadata §2.4.4). */
export const serviceMetadata = (sp: SamlService): string =>
  library({ entity_id: '', sso_url: 'https://unused.invalid', certificates: ['unused'] }, sp).generateServiceProviderMetadata(null, null);

/**
 * The identity that a response asserts to this service, for the request of this ID; null for a response that nobody asked for.
 * @throws SamlRefused
 */
export async function verifySamlResponse(
  encoded: string,
  idp: SamlProvider,
  sp: SamlService,
  { request_id, now }: { request_id: string | null; now: Date },
): Promise<SamlIdentity> {
  const xml = assertPlainResponse(decoded(encoded));
  const saml = library(idp, sp, {
    validateInResponseTo: request_id === null ? ValidateInResponseTo.never : ValidateInResponseTo.always,
    // One request is expected, and whether it is still open is the caller's to know.
    cacheProvider: {
      saveAsync: async () => null,
      getAsync: async (id) => (id === request_id ? now.toISOString() : null),
      removeAsync: async () => null,
    },
  });
  const { profile } = await saml
    .validatePostResponseAsync({ SAMLResponse: Buffer.from(xml).toString('base64') })
    .catch((error: unknown) => {
      throw refusalOf(error);
    });
  const assertion = (profile?.getAssertion?.() as { Assertion?: Assertion } | undefined)?.Assertion;
  if (!assertion) throw invalid('has no assertion');
  return identityOf(assertion, idp, sp, request_id, now);
}

/** As xml2js gives the signed XML: attributes in `$`, text in `_`, every child in a list. */
type Node = { $?: Record<string, string>; _?: string } & { [name: string]: unknown };
type Assertion = Node;
const children = (node: Node | undefined, name: string): Node[] => ((node?.[name] as (Node | string)[] | undefined) ?? []).map(asNode);
const asNode = (value: Node | string): Node => (typeof value === 'string' ? { _: value } : value);
/** Exactly one child. */
function only(node: Node | undefined, name: string): Node {
  const found = children(node, name);
  if (found.length !== 1 || !found[0]) throw invalid(`needs exactly one ${name}`);
  return found[0];
}
/** The text of an element that holds text alone: what stands between elements must not be read as one name. */
function textOf(node: Node): string {
  if (Object.keys(node).some((key) => key !== '_' && key !== '$')) throw invalid('has elements where text belongs');
  return (node._ ?? '').trim();
}

function identityOf(assertion: Assertion, idp: SamlProvider, sp: SamlService, requestId: string | null, now: Date): SamlIdentity {
  const issuer = textOf(only(assertion, 'Issuer'));
  if (issuer !== idp.entity_id) throw invalid(`was issued by ${issuer.slice(0, 200)}, not by ${idp.entity_id}`);
  const subject = only(assertion, 'Subject');
  const confirmed = children(subject, 'SubjectConfirmation').filter((one) => one.$?.Method === 'urn:oasis:names:tc:SAML:2.0:cm:bearer');
  const data = confirmed.map((one) => only(one, 'SubjectConfirmationData').$ ?? {}).find((one) => one.Recipient === sp.acs_url);
  if (!data) throw invalid(`is not addressed to ${sp.acs_url}`);
  // The response around the assertion may be unsigned, so its InResponseTo proves nothing.
  if ((data.InResponseTo ?? null) !== requestId) throw invalid(requestId === null ? 'answers a request' : 'answers another request');
  const conditions = only(assertion, 'Conditions');
  const audiences = children(conditions, 'AudienceRestriction').flatMap((one) => children(one, 'Audience').map(textOf));
  if (!audiences.includes(sp.entity_id)) throw invalid(`is not for ${sp.entity_id}`);
  const ends = [conditions.$?.NotOnOrAfter, data.NotOnOrAfter].map((text) => Date.parse(text ?? ''));
  if (ends.some((end) => Number.isNaN(end) || end - now.getTime() > LONGEST_LIFE_MS)) throw invalid('has no usable end');
  if (ends.some((end) => end + SKEW_MS <= now.getTime())) throw late();
  const nameId = only(subject, 'NameID');
  const name = textOf(nameId);
  if (name === '' || name.length > 512) throw invalid('names nobody');
  const format = nameId.$?.Format ?? '';
  if (format.endsWith(':transient'))
    throw invalid('names the person by a transient NameID. Set the NameID format to persistent or emailAddress');
  const id = assertion.$?.ID ?? '';
  if (id === '' || id.length > 256) throw invalid('has no ID');
  const attributes = attributesOf(assertion);
  return {
    issuer,
    subject: name,
    email: first(attributes, EMAIL) ?? (format.endsWith(':emailAddress') || /^[^@\s]+@[^@\s]+$/.test(name) ? name : null),
    name: first(attributes, NAME) ?? null,
    contexts: children(assertion, 'AuthnStatement').flatMap((one) =>
      children(one, 'AuthnContext').flatMap((context) => children(context, 'AuthnContextClassRef').map(textOf)),
    ),
    assertion_id: id,
    expires_at: new Date(Math.max(...ends) + SKEW_MS),
  };
}

const EMAIL = [
  'email',
  'mail',
  'emailaddress',
  'urn:oid:0.9.2342.19200300.100.1.3',
  'urn:oid:1.2.840.113549.1.9.1',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
];
const NAME = ['displayname', 'name', 'urn:oid:2.16.840.1.113730.3.1.241', 'http://schemas.microsoft.com/identity/claims/displayname'];

function attributesOf(assertion: Assertion): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const statement of children(assertion, 'AttributeStatement'))
    for (const attribute of children(statement, 'Attribute')) {
      const name = (attribute.$?.Name ?? '').toLowerCase();
      // A value that isn't plain text is none of those that are read here.
      const values = children(attribute, 'AttributeValue').flatMap((value) =>
        typeof value._ === 'string' && isText(value) ? [value._.trim()] : [],
      );
      found.set(name, [...(found.get(name) ?? []), ...values]);
    }
  return found;
}
const isText = (node: Node) => Object.keys(node).every((key) => key === '_' || key === '$');

/** Of several values none is taken: which of them is the person's would be a guess. */
function first(attributes: ReadonlyMap<string, string[]>, names: readonly string[]): string | undefined {
  for (const name of names) {
    const values = new Set(attributes.get(name) ?? []);
    if (values.size === 1) return [...values][0]?.slice(0, 254);
  }
  return undefined;
}

const ALGORITHMS: ReadonlySet<string> = new Set([
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmldsig-more#sha384',
  'http://www.w3.org/2001/04/xmlenc#sha512',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha384',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384',
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512',
]);

/**
 * Refuses, before any parser sees it, what signature wrapping and parser attacks are made of: a document type (entities), comments and CDATA (a text that
 * two readers cut differently), processing instructions, a second assertion or response anywhere, encrypted parts, and algorithms below SHA-256. A text
 * that only looks like one of them is refused as well; no provider sends any.
 */
function assertPlainResponse(xml: string): string {
  const over = overBounds(xml, RESPONSE);
  if (over !== undefined) throw invalid(`has ${over}`);
  const body = xml.replace(/^\uFEFF?<\?xml [^<>?]*\?>/, '').trimStart();
  if (body.includes('<!') || body.includes('<?'))
    throw invalid('contains a document type, comment, CDATA section or processing instruction');
  // Every tag by its local name, whatever its prefix; `<` can't stand in an attribute.
  const tags = body
    .split('<')
    .slice(1)
    .map((text) => ({ name: localName(text), text }));
  const count = (name: string) => tags.filter((tag) => tag.name === name).length;
  if (count('EncryptedAssertion') > 0 || count('EncryptedID') > 0)
    throw invalid('is encrypted. Turn off assertion encryption at your identity provider; the connection itself is encrypted');
  if (tags[0]?.name !== 'Response' || count('Response') !== 1) throw invalid('is not one SAML response');
  if (count('Assertion') > 1) throw invalid('has more than one assertion');
  const signatures = count('Signature');
  if (signatures > 2) throw invalid('has more than two signatures');
  // A reference is digested, and a transform runs, before anything is known to be signed.
  if (count('Reference') > signatures) throw invalid('has a signature with more than one reference');
  if (count('Transform') > 2 * signatures) throw invalid('has a signature with more than two transforms');
  for (const { name, text } of tags) if (NAMES_ALGORITHM.has(name)) assertAlgorithm(text);
  return xml;
}

const NAMES_ALGORITHM: ReadonlySet<string> = new Set([
  'SignatureMethod',
  'DigestMethod',
  'CanonicalizationMethod',
  'Transform',
  'EncryptionMethod',
]);

function localName(tag: string): string {
  const name = /^[^\s/>]*/.exec(tag)?.[0] ?? '';
  return name.slice(name.lastIndexOf(':') + 1);
}

function assertAlgorithm(tag: string): void {
  const value = attributeOf(tag, 'Algorithm');
  if (value === undefined || !ALGORITHMS.has(value))
    throw invalid(`uses the algorithm ${(value ?? 'none').slice(0, 80)}. Sign assertions with SHA-256 or stronger`);
}

/** The value of an attribute whose name stands in the tag exactly once, as a parser would read it. */
function attributeOf(tag: string, name: string): string | undefined {
  const [, rest = '', ...more] = tag.split(name);
  const value = rest.trimStart().startsWith('=') ? rest.trimStart().slice(1).trimStart() : '';
  const quote = value[0];
  const end = quote === '"' || quote === "'" ? value.indexOf(quote, 1) : -1;
  return more.length > 0 || end === -1 ? undefined : value.slice(1, end);
}

function decoded(encoded: string): string {
  const text = encoded.replace(/\s/g, '');
  if (text.length > (LONGEST_RESPONSE * 4) / 3) throw invalid('is too large');
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || trimEnd(bytes.toString('base64'), '=') !== trimEnd(text, '=')) throw invalid('is not base64');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalid('is not UTF-8');
  }
}

const library = (idp: SamlProvider, sp: SamlService, more: Partial<SamlConfig> = {}) =>
  new SAML({
    entryPoint: idp.sso_url,
    idpCert: [...idp.certificates],
    idpIssuer: idp.entity_id,
    issuer: sp.entity_id,
    audience: sp.entity_id,
    callbackUrl: sp.acs_url,
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: false,
    acceptedClockSkewMs: SKEW_MS,
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    ...more,
  });

/** The library's words are for its developers: what a person can act on is told, the rest is one sentence. */
function refusalOf(error: unknown): SamlRefused {
  if (error instanceof SamlRefused) return error;
  const message = error instanceof Error ? error.message : '';
  if (/^SAML provider returned/.test(message)) return new SamlRefused('provider_error', 'The identity provider refused the sign-in.');
  if (/expired|not yet valid|No valid subject confirmation/i.test(message)) return late();
  if (/InResponseTo/.test(message)) return invalid('answers another request');
  if (/audience/i.test(message)) return invalid('is for another service');
  if (/signature|Too many|digest|certificate|PEM/i.test(message))
    return invalid("has no valid signature by a certificate of this connection. If your provider's certificate changed, add the new one");
  return invalid('could not be read');
}

const invalid = (problem: string) => new SamlRefused('assertion_invalid', `The SAML response ${problem}.`);
const late = () =>
  new SamlRefused(
    'expired',
    "The SAML response has expired or isn't valid yet. Sign in again; if this repeats, check the clock of your identity provider.",
  );

export type CertificateFacts = { fingerprint: string; subject: string; valid_from: Date; valid_to: Date };

/** A certificate as PEM, from PEM or from the bare base64 of metadata; undefined when it is none, or its key is too weak. */
export function certificatePem(text: string): string | undefined {
  const body = text.replace(/-----(?:BEGIN|END) CERTIFICATE-----/g, '').replace(/\s/g, '');
  try {
    const parsed = new X509Certificate(Buffer.from(body, 'base64'));
    const { asymmetricKeyType, asymmetricKeyDetails } = parsed.publicKey;
    if (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) < 2048) return undefined;
    if (isOnUnnamedCurve(parsed.publicKey)) return undefined;
    return parsed.toString().trim();
  } catch {
    return undefined;
  }
}

export function certificateFacts(pem: string): CertificateFacts {
  const { fingerprint256, subject, validFrom, validTo } = new X509Certificate(pem);
  return {
    fingerprint: fingerprint256,
    subject: subject.replaceAll('\n', ', '),
    valid_from: new Date(validFrom),
    valid_to: new Date(validTo),
  };
}

/** What a provider's metadata says; undefined when it is none of a provider with sign-on by redirect. */
export async function providerFromMetadata(xml: string): Promise<SamlProvider | undefined> {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(xml) || overBounds(xml, METADATA) !== undefined) return undefined;
  try {
    const document = await parseDomFromString(xml);
    const at = (path: string) =>
      xpath.selectElements(document as never, path) as unknown as {
        getAttribute(name: string): string | null;
        textContent: string | null;
      }[];
    const role = "//*[local-name()='IDPSSODescriptor']";
    const entity = at("//*[local-name()='EntityDescriptor'][*[local-name()='IDPSSODescriptor']]");
    if (entity.length !== 1) return undefined;
    const sso_url = at(`${role}/*[local-name()='SingleSignOnService']`)
      .find((one) => one.getAttribute('Binding') === 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect')
      ?.getAttribute('Location');
    const certificates = at(
      `${role}/*[local-name()='KeyDescriptor'][not(@use) or @use='signing']//*[local-name()='X509Certificate']`,
    ).flatMap((one) => certificatePem(one.textContent ?? '') ?? []);
    const entity_id = entity[0]?.getAttribute('entityID');
    return entity_id && sso_url && /^https?:$/.test(URL.parse(sso_url)?.protocol ?? '') && certificates.length > 0
      ? { entity_id, sso_url, certificates: [...new Set(certificates)] }
      : undefined;
  } catch {
    return undefined;
  }
}
