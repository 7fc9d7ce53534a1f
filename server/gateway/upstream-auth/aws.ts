import { z } from 'zod';
import { signAwsRequest } from '#server/crypto/upstream-auth/aws-sigv4.ts';
import type { Refused } from '../core/refusal.ts';
import type { Runtime } from '../core/runtime.ts';
import { upstreamHeaders } from '../core/upstream-headers.ts';
import type { TemplateCall } from '../templates/template-call.ts';
import { type Signed, type SigningAuth, unusable } from './signed.ts';

const Credentials = z.object({
  access_key_id: z.string().regex(/^[\w.-]{1,128}$/),
  secret_access_key: z.string().min(1).max(1_024),
  session_token: z
    .string()
    .regex(/^[\x21-\x7e]{1,8192}$/)
    .optional(),
});
const WANTED = 'must hold JSON with access_key_id, secret_access_key and, for temporary credentials, session_token';
const EMPTY = Buffer.alloc(0);

/** AWS Signature Version 4, over exactly the headers, target and body that are sent. */
export function signAws(
  call: TemplateCall,
  runtime: Runtime,
  auth: Extract<SigningAuth, { type: 'aws_sigv4' }>,
  name: string,
  material: string,
): Signed | Refused {
  const credentials = Credentials.safeParse(parsed(material));
  if (!credentials.success) return unusable(`The secret ${name}`, WANTED);
  const { method, upstreamPath, upstream, body, streamsBody } = call;
  const request = {
    method,
    target: upstreamPath,
    host: upstream?.authority ?? '',
    headers: upstreamHeaders(call, runtime.privateHeaders),
    body: streamsBody ? null : (body ?? EMPTY),
  };
  const { headers, target } = signAwsRequest(request, auth, credentials.data, new Date());
  call.upstreamPath = target;
  const { access_key_id, session_token } = credentials.data;
  const signature = /Signature=([0-9a-f]{64})$/.exec(headers.at(-1) ?? '')?.[1] ?? '';
  return {
    headers,
    credentials: new Map([
      [`${name}.signature`, signature],
      [`${name}.access_key_id`, access_key_id],
      ...(session_token === undefined ? [] : [[`${name}.session_token`, session_token] as const]),
    ]),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
