'use client';

import { useState } from 'react';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { useTRPCClient } from '#components/trpc/provider.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { RevealField } from '#components/ui/reveal-field.tsx';
import { parseExact } from '#server/kernel/lossless-json.ts';

/** Opens sealed values for a person, as a recorded reveal. */
export function DecryptCard() {
  const client = useTRPCClient();
  const forbidden = useRevealForbidden('transit:decrypt');
  const [data, setData] = useState('');
  const [role, setRole] = useState('');
  const nothing = data.trim() === '' ? 'Paste sealed JSON or a sealed value first' : undefined;
  return (
    <SectionCard title="Decrypt" description="Takes a second factor. Your name and the reason are recorded before anything is shown.">
      <div className="flex flex-col gap-4">
        <Field label="Sealed JSON or value">
          <Textarea mono rows={3} value={data} autoComplete="off" onChange={(event) => setData(event.target.value)} />
        </Field>
        <Field label="Role" optional hint="The role that the values were sealed with." className="sm:max-w-xs">
          <Input mono value={role} maxLength={63} onChange={(event) => setRole(event.target.value)} />
        </Field>
        <RevealField
          // Another input is another value: what is shown goes.
          key={`${role} ${data}`}
          tall
          label="decrypted values"
          disabledReason={forbidden ?? nothing}
          reveal={async (reason) => {
            const input = { data: documentOf(data), role: role.trim() || undefined };
            const { plaintext } = await client.encryption.reveal.mutate(input, revealCall(reason));
            return { value: typeof plaintext === 'string' ? plaintext : JSON.stringify(plaintext, null, 2) };
          }}
        />
      </div>
    </SectionCard>
  );
}

/** A sealed value as it stands, or a document that holds some. */
function documentOf(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return text.trim();
  }
}
