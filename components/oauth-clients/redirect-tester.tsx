'use client';

import { useState } from 'react';
import { Status } from '#components/ui/badge.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import type { Detail } from './client-labels.ts';
import { testUri } from './redirect-uri-text.ts';

/** Says whether a login may return to an address, by the rules that /oauth/authorize applies. */
export function RedirectTester({ client }: { client: Pick<Detail, 'redirect_uris' | 'type'> }) {
  const [asked, setAsked] = useState('');
  const result = asked === '' ? undefined : testUri(asked, client.redirect_uris, client.type);
  return (
    <Field label="Test an address" hint="Paste the redirect_uri that your application sends.">
      <Input mono placeholder={client.redirect_uris[0]} value={asked} onChange={(event) => setAsked(event.target.value)} />
      <p aria-live="polite" className="min-h-5 text-xs [overflow-wrap:anywhere]">
        {result &&
          (result.ok ? (
            <>
              <Status state="ok">Accepted</Status> <span className="text-ink-2">Matches {result.by}</span>
            </>
          ) : (
            <>
              <Status state="failing">Refused</Status> <span className="text-ink-2">{result.why}</span>
            </>
          ))}
      </p>
    </Field>
  );
}
