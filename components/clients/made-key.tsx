'use client';

import { useState } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { ShownOnce } from '#components/ui/shown-once.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import type { MadeKey } from './add-credential.tsx';
import { signingSnippets } from './signing-snippets.ts';

/** The key of a new credential, once, and the code that signs with it. */
export function MadeKeyDialog({ made, onGone }: { made: MadeKey | undefined; onGone: () => void }) {
  const { title, filename } = SHOWN[made?.kind ?? 'mtls_thumbprint'];
  return (
    <ShownOnce value={made?.value} title={title} label={title.toLowerCase()} filename={filename} onGone={onGone}>
      {made && (made.kind === 'mtls_thumbprint' ? <HowToConnect /> : <HowToSign keyId={made.id} kind={made.kind} />)}
    </ShownOnce>
  );
}

const SHOWN = {
  signature_hmac: { title: 'Signing secret', filename: 'signing-secret.txt' },
  signature_ed25519: { title: 'Private key', filename: 'client-key.pem' },
  mtls_thumbprint: { title: 'Certificate and private key', filename: 'client.pem' },
} as const;

/** A call with the certificate in one file, as it's downloaded. */
function HowToConnect() {
  const { proxy_url } = useScope();
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <CodeBlock
        title="Call with the certificate"
        snippets={[{ id: 'curl', label: 'cURL', language: 'bash', code: `curl --cert client.pem ${proxy_url}/YOUR_ROUTE` }]}
      />
      <p className="text-ink-3 text-xs">
        The deployment must pass client certificates on.{' '}
        <Link href="/docs/clients#certificates" className={textLink}>
          How certificates are recognised
        </Link>
      </p>
    </div>
  );
}

type SigningKind = Exclude<MadeKey['kind'], 'mtls_thumbprint'>;

/** A signed call with a credential, as code. */
export function HowToSign({ keyId, kind }: { keyId: string; kind: SigningKind }) {
  const { proxy_url } = useScope();
  const [scheme, setScheme] = useState<'v1' | 'rfc9421'>('v1');
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Segmented
        label="Scheme"
        size="sm"
        options={[
          { value: 'v1', label: 'Signature v1' },
          { value: 'rfc9421', label: 'RFC 9421' },
        ]}
        value={scheme}
        onValueChange={setScheme}
      />
      <CodeBlock
        title="Sign a call"
        snippets={signingSnippets({ scheme, kind, proxyUrl: proxy_url, reference: 'YOUR_ROUTE', environment: '', keyId })}
      />
      <p className="text-ink-3 text-xs">
        The route decides the scheme.{' '}
        <Link href="/docs/request-signing" className={textLink}>
          How signing works
        </Link>
      </p>
    </div>
  );
}
