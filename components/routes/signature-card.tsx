'use client';

import { useScope } from '#components/trpc/provider.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { onDemand } from '#components/ui/on-demand.ts';
import { Select } from '#components/ui/select.tsx';
import { NumberInput, Setting } from './setting.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

const writer = onDemand(() => import('#components/clients/signing-snippets.ts').then((module) => module.signingSnippets));

const SCHEMES = [
  { value: 'v1', label: 'Signature v1', detail: 'Covers host, route, environment, method, path, query and body' },
  { value: 'rfc9421', label: 'HTTP Message Signatures', detail: 'RFC 9421, for callers with a library for it' },
  { value: 'concat', label: 'Concatenated (weak)', detail: 'For existing callers only' },
] as const;

/** Whether calls of one environment must be signed, and how. */
export function SignatureCard({ editor, reference }: { editor: ConfigEditor; reference: string }) {
  const required = editor.value('require_signature');
  const scheme = editor.value('signature_scheme');
  const nonce = editor.value('signature_require_nonce');
  return (
    <SectionCard
      title="Signatures"
      description="A signed call can’t be changed on its way, and shows which client sent it. Clients sign with a key of theirs."
    >
      <div className="flex flex-col gap-5">
        <Setting editor={editor} field="require_signature" label="Required" group>
          {({ value, set, disabled }) => (
            <Checkbox checked={value} onCheckedChange={set} disabled={disabled} label="Refuse calls without a valid signature" />
          )}
        </Setting>
        <div className="grid gap-5 sm:grid-cols-2">
          <Setting editor={editor} field="signature_scheme" label="Scheme">
            {({ value, set, disabled }) => (
              <Select options={SCHEMES} value={value} onValueChange={set} disabled={disabled} className="max-w-72" />
            )}
          </Setting>
          <Setting
            editor={editor}
            field="signature_tolerance_sec"
            label="Clock tolerance"
            hint="How old or early a signature can be, from 1 to 3,600 seconds."
          >
            {({ value, set, disabled }) => (
              <NumberInput
                value={value}
                onChange={(seconds) => set(seconds ?? 300)}
                disabled={disabled}
                min={1}
                max={3_600}
                suffix="seconds"
              />
            )}
          </Setting>
        </div>
        <Setting editor={editor} field="signature_require_nonce" label="Replays" group>
          {({ value, set, disabled }) => (
            <Checkbox
              checked={value}
              onCheckedChange={set}
              disabled={disabled || (scheme === 'concat' && !value)}
              label="Require a nonce"
              description="Each call then works once. Without a nonce, a captured call can be repeated until its signature is too old."
            />
          )}
        </Setting>
        {scheme === 'concat' && (
          <Callout tone="warn" title="This scheme is weaker than the others.">
            It names neither host nor route and doesn’t separate path and body, so a signature can also fit another call. It has no nonce.
            Move callers to v1.
          </Callout>
        )}
        {required && scheme !== 'concat' && !nonce && (
          <Callout tone="info" title="A captured call can be repeated.">
            It works until its signature is older than the tolerance. Require a nonce to let each call through once.
          </Callout>
        )}
        {required && <HowToSign scheme={scheme} reference={reference} environment={editor.isBase ? '' : editor.env} />}
      </div>
    </SectionCard>
  );
}

type HowToSignProps = { scheme: 'v1' | 'concat' | 'rfc9421'; reference: string; environment: string };

function HowToSign({ scheme, reference, environment }: HowToSignProps) {
  const { proxy_url } = useScope();
  const write = writer.use(true);
  if (!write) return null;
  const example = { scheme, kind: 'signature_hmac', proxyUrl: proxy_url, reference, environment, keyId: 'YOUR_KEY_ID' } as const;
  return (
    <div className="flex flex-col gap-2">
      <CodeBlock title="Sign a call" snippets={write(example)} />
      <p className="text-ink-3 text-xs">
        Add an HMAC or Ed25519 key to a client to get the key ID.{' '}
        <Link href="/docs/request-signing" className={textLink}>
          How signing works
        </Link>
      </p>
    </div>
  );
}
