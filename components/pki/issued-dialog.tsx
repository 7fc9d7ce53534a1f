'use client';

import { Download, FileLock2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { ShownOnce } from '#components/ui/shown-once.tsx';
import type { Issued } from './pki-labels.ts';
import { fileName, saveFile } from './save-file.ts';

/** What was issued, and what people call it. */
export type Shown = Issued & { title: string };

/** The private key of a new certificate, once: to copy, or to save as one file or several. Nothing holds it once this is closed. */
export function IssuedDialog({ shown, onGone }: { shown: Shown | undefined; onGone: () => void }) {
  const name = fileName(shown?.title ?? '');
  return (
    <ShownOnce
      value={shown && (shown.private_key_pem + shown.cert_pem + shown.ca_chain_pem).trimEnd()}
      title="Certificate and private key"
      label="private key"
      filename={`${name}.pem`}
      description={`Issued for ${shown?.title ?? ''}. Save the private key now: it isn’t kept, so it can’t be shown again.`}
      onGone={onGone}
    >
      {shown && (
        <>
          <div className="flex flex-wrap gap-2">
            <Button size="sm" icon={<Download />} onClick={() => saveFile(shown.private_key_pem, `${name}-key.pem`)}>
              Key only
            </Button>
            <Button size="sm" icon={<Download />} onClick={() => saveFile(shown.cert_pem + shown.ca_chain_pem, `${name}-chain.pem`)}>
              Certificate and chain
            </Button>
          </div>
          <SaveAsPkcs12 shown={shown} name={name} />
        </>
      )}
    </ShownOnce>
  );
}

/** Shorter ones are found by trying, once somebody has the file. */
const SHORTEST = 12;

/** One file for Windows, browsers and Java. It's made here: neither the passphrase nor the file leaves the page. */
function SaveAsPkcs12({ shown, name }: { shown: Shown; name: string }) {
  const [passphrase, setPassphrase] = useState('');
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(false);
  const save = async () => {
    setBusy(true);
    setFailed(false);
    try {
      const { pkcs12Of } = await import('./pkcs12.ts');
      saveFile(await pkcs12Of({ ...shown, name: shown.title, passphrase }), `${name}.p12`, 'application/x-pkcs12');
      setPassphrase('');
    } catch {
      setFailed(true);
    }
    setBusy(false);
  };
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        event.stopPropagation();
        if (passphrase.length >= SHORTEST && !busy) void save();
      }}
    >
      <Field
        label="Passphrase of a PKCS #12 file"
        optional
        hint={`One encrypted file for key stores and browsers. At least ${SHORTEST} characters.`}
      >
        <SecretInput value={passphrase} onChange={(event) => setPassphrase(event.target.value)} />
      </Field>
      <div>
        <Button
          type="submit"
          size="sm"
          icon={<FileLock2 />}
          loading={busy}
          disabledReason={passphrase.length < SHORTEST ? `Enter a passphrase of at least ${SHORTEST} characters` : undefined}
        >
          Save PKCS #12
        </Button>
      </div>
      {failed && <Callout tone="bad" title="This browser couldn’t make the file. Save the key and the chain instead." />}
    </form>
  );
}
