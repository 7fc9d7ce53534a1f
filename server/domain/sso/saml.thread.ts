import {
  providerFromMetadata,
  type SamlIdentity,
  type SamlProblem,
  type SamlProvider,
  SamlRefused,
  type SamlService,
  verifySamlResponse,
} from '#server/crypto/saml.ts';

export type Response = { response: string; idp: SamlProvider; sp: SamlService; request_id: string | null; now: Date };
export type Verified = { identity: SamlIdentity } | { problem: SamlProblem; message: string };
export type Asked = Response | { metadata: string };

/** Verifies a response, or reads a provider's metadata: XML, its canonical forms and signatures are work of the sender's choice. */
export async function run(asked: Asked): Promise<Verified | SamlProvider | undefined> {
  if ('metadata' in asked) return providerFromMetadata(asked.metadata);
  const { response, idp, sp, request_id, now } = asked;
  try {
    return { identity: await verifySamlResponse(response, idp, sp, { request_id, now }) };
  } catch (error) {
    if (error instanceof SamlRefused) return { problem: error.reason, message: error.message };
    throw error;
  }
}
