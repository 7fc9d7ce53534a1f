import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { IdentityProvider, SamlLib, ServiceProvider } from 'samlify';

x509.cryptoProvider.set(crypto);
const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', publicExponent: new Uint8Array([1, 0, 1]), modulusLength: 2048 };

export type Certificate = { cert: string; key: string };
/** A key with a certificate that nobody else signed. */
export async function certificate(): Promise<Certificate> {
  const keys = (await crypto.subtle.generateKey(RSA, true, ['sign', 'verify'])) as CryptoKeyPair;
  const cert = await x509.X509CertificateGenerator.createSelfSigned({ name: 'CN=idp', keys, signingAlgorithm: RSA });
  return {
    cert: cert.toString('pem'),
    key: x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY'),
  };
}

const TEMPLATE =
  '<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{ID}" Version="2.0" IssueInstant="{Now}" Destination="{Acs}" InResponseTo="{InResponseTo}"><saml:Issuer>{Issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>' +
  '<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{AssertionID}" Version="2.0" IssueInstant="{Now}"><saml:Issuer>{Issuer}</saml:Issuer><saml:Subject><saml:NameID Format="{Format}">{NameID}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="{NotOnOrAfter}" Recipient="{Recipient}" InResponseTo="{InResponseTo}"/></saml:SubjectConfirmation></saml:Subject>' +
  '<saml:Conditions NotBefore="{NotBefore}" NotOnOrAfter="{NotOnOrAfter}"><saml:AudienceRestriction><saml:Audience>{Audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="{Now}"><saml:AuthnContext><saml:AuthnContextClassRef>{Context}</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>' +
  '<saml:AttributeStatement><saml:Attribute Name="email"><saml:AttributeValue>{Email}</saml:AttributeValue></saml:Attribute></saml:AttributeStatement></saml:Assertion></samlp:Response>';

export type SamlTags = Partial<
  Record<
    | 'NameID'
    | 'Email'
    | 'Format'
    | 'Audience'
    | 'Recipient'
    | 'InResponseTo'
    | 'Issuer'
    | 'NotBefore'
    | 'NotOnOrAfter'
    | 'AssertionID'
    | 'Context',
    string
  >
>;

type Where = { acs: string; entityID?: string; ssoUrl?: string };

/** An identity provider of samlify, which signs with an implementation that isn't ours. */
export async function samlProvider({ acs, entityID = 'https://idp.example/metadata', ssoUrl = 'https://idp.example/sso' }: Where) {
  const signing = await certificate();
  const build = ({ cert, key }: Certificate, algorithm = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256') =>
    IdentityProvider({
      entityID,
      signingCert: cert,
      privateKey: key,
      requestSignatureAlgorithm: algorithm,
      nameIDFormat: ['urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'],
      singleLogoutService: [{ Binding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect', Location: `${ssoUrl}/out` }],
      singleSignOnService: [{ Binding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect', Location: ssoUrl }],
    });
  const metadata = build(signing).getMetadata();

  /** The XML of a response to a request, by default a good one. */
  const respond = async (
    to: { entity_id: string; request_id: string },
    tags: SamlTags,
    { by = signing, algorithm, sign = true }: { by?: Certificate; algorithm?: string; sign?: boolean } = {},
  ): Promise<string> => {
    const now = Date.now();
    const at = (seconds: number) => new Date(now + seconds * 1000).toISOString();
    const values = {
      ...{
        ID: `_r${crypto.randomUUID()}`,
        AssertionID: `_a${crypto.randomUUID()}`,
        Now: at(0),
        Acs: acs,
        Recipient: acs,
        Issuer: entityID,
      },
      ...{ InResponseTo: to.request_id, Audience: to.entity_id, NotBefore: at(-5), NotOnOrAfter: at(300) },
      ...{ Format: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress', Context: 'urn:oasis:names:tc:SAML:2.0:ac:classes:Password' },
      ...{ NameID: tags.Email ?? '', Email: '' },
      ...tags,
    };
    const xml = SamlLib.replaceTagsByValue(TEMPLATE, values);
    if (!sign) return xml;
    const sp = ServiceProvider({
      entityID: to.entity_id,
      wantAssertionsSigned: true,
      assertionConsumerService: [{ Binding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST', Location: acs }],
    });
    const { context } = await build(by, algorithm).createLoginResponse(
      sp,
      { extract: { request: { id: to.request_id } } },
      'post',
      {},
      () => ({
        id: values.ID,
        context: xml,
      }),
    );
    return Buffer.from(context, 'base64').toString();
  };
  return { entityID, ssoUrl, signing, metadata, respond };
}
