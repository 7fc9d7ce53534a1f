'use client';

import { useQuery } from '@tanstack/react-query';
import { FileLock2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { listOf } from '#components/secrets/secret-text.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import type { SealingBundle } from '../../sdk/elements/encryptor.ts';

const SAMPLE = `{
  "card": { "number": "4242424242424242", "holder": "Ada Lovelace" },
  "items": [{ "sku": "a-1", "price": 12.5 }]
}`;

type Result = { text: string; sealed: number; skipped: number };
type Fault = { field: 'data' | 'role' | 'selectors'; message: string };

/** Seals in this page with the library that customers' pages load: what is typed isn't sent. */
export function Playground() {
  const trpc = useTRPC();
  const bundle = useQuery(trpc.encryption.bundle.queryOptions({}));
  const [data, setData] = useState(SAMPLE);
  const [role, setRole] = useState('');
  const [selectors, setSelectors] = useState('$.card');
  const [result, setResult] = useState<Result>();
  const [fault, setFault] = useState<Fault>();

  async function seal(event: FormEvent) {
    event.preventDefault();
    if (!bundle.data) return;
    const outcome = await sealedText(data, { bundle: bundle.data, role: role.trim() || undefined, selectors: listOf(selectors) });
    setFault('fault' in outcome ? outcome.fault : undefined);
    setResult('fault' in outcome ? undefined : outcome);
  }
  const errorOf = (field: Fault['field']) => (fault?.field === field ? fault.message : undefined);
  return (
    <SectionCard title="Playground" description="Sealed here in your browser. What you type isn’t sent anywhere.">
      <form onSubmit={(event) => void seal(event)} className="flex flex-col gap-4">
        <Field label="JSON" error={errorOf('data')}>
          <Textarea mono rows={5} value={data} onChange={(event) => setData(event.target.value)} autoComplete="off" />
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            label="Selectors"
            optional
            error={errorOf('selectors')}
            hint="One per line, such as $.card.number or $..ssn. Leave empty to seal everything."
          >
            <Textarea mono rows={2} value={selectors} onChange={(event) => setSelectors(event.target.value)} />
          </Field>
          <Field label="Role" optional error={errorOf('role')} hint="Bound in: whoever opens the values must name the same role.">
            <Input mono value={role} maxLength={63} placeholder="pci" onChange={(event) => setRole(event.target.value)} />
          </Field>
        </div>
        <div>
          <Button
            type="submit"
            variant="primary"
            icon={<FileLock2 />}
            disabledReason={bundle.data ? undefined : 'The default key isn’t loaded'}
          >
            Seal
          </Button>
        </div>
      </form>
      <div role="status" className="mt-4 flex flex-col gap-2 empty:hidden">
        {result && (
          <>
            <p className="text-ink-2">
              {counted(result.sealed, 'value')} sealed{result.skipped > 0 && `, ${result.skipped} already sealed`}.
            </p>
            <CodeBlock wrap snippets={[{ id: 'sealed', label: 'Sealed JSON', language: 'json', code: result.text }]} />
          </>
        )}
      </div>
    </SectionCard>
  );
}

type Options = { bundle: SealingBundle; role: string | undefined; selectors: readonly string[] };

async function sealedText(text: string, options: Options): Promise<Result | { fault: Fault }> {
  let document: unknown;
  try {
    document = parseExact(text);
  } catch (error) {
    return { fault: { field: 'data', message: `This isn’t valid JSON: ${(error as Error).message}` } };
  }
  try {
    // The library comes when it is used.
    const { sealDocument } = await import('./seal-document.ts');
    const made = await sealDocument(document, { ...options, exclude: [] });
    return { text: JSON.stringify(made.document, null, 2), sealed: made.sealed, skipped: made.skipped };
  } catch (error) {
    const { name, message } = error as Error;
    return { fault: { field: name === 'SelectorRefused' ? 'selectors' : 'role', message } };
  }
}
