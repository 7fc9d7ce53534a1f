import type { FieldPath, FieldValues, UseFormReturn } from 'react-hook-form';
import { z } from 'zod';
import { Field } from '#components/ui/field.tsx';
import { fieldError } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { FileButton } from './file-button.tsx';

/** What a person pastes of a certificate. */
export const certificateMaterial = {
  certificate_content: z.string().min(1, 'Paste a certificate.').max(360_000),
  private_key: z.string().max(65_536),
  passphrase: z.string().max(1_024),
};
type Material = { certificate_content: string; private_key: string; passphrase: string };

/** PKCS #7 shows in its first line, and PFX in its first bytes: a sequence that begins with the version 3. */
const typeOf = (content: string) =>
  /-----BEGIN (?:PKCS7|CMS)-----/.test(content) ? ('pkcs7' as const) : PFX.test(bytesOf(content)) ? ('pfx' as const) : ('pem' as const);
const PFX = /^30(?:80|82.{4}|83.{6}|[0-7].|81..)020103/;

/** The first bytes of base64 in hex; '' for a text that is none. */
function bytesOf(content: string): string {
  const start = content.slice(0, 200).replace(/\s/g, '').slice(0, 24);
  if (!/^[A-Za-z0-9+/]{24}$/.test(start)) return '';
  return [...atob(start)].map((one) => one.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}

/** What a file holds: text as it is, and anything binary in base64. */
async function contentOf(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  return text.includes('-----BEGIN ') ? text : btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
/** As much as the API takes. */
const LARGEST_FILE = 256 * 1_024;

/** The fields that were filled in. */
export const materialOf = ({ certificate_content, private_key, passphrase }: Material) => ({
  certificate_content,
  certificate_type: typeOf(certificate_content),
  ...(private_key.trim() === '' ? {} : { private_key }),
  ...(passphrase === '' ? {} : { passphrase }),
});

/** Certificate, key and passphrase. */
export function CertificateFields<In extends FieldValues & Material>({ form }: { form: UseFormReturn<In, unknown, FieldValues> }) {
  const of = (name: keyof Material) => name as FieldPath<In>;
  const any = form as unknown as UseFormReturn<Material>;
  const fill = async (file: File) => {
    if (file.size > LARGEST_FILE) return any.setError('certificate_content', { message: 'The file is larger than 256 KiB.' });
    any.setValue('certificate_content', await contentOf(file), { shouldDirty: true, shouldValidate: true });
  };
  return (
    <>
      <Field
        label="Certificate"
        required
        error={fieldError(any, 'certificate_content')}
        hint="PEM, PKCS #7 or PFX. The first one is yours, the others its chain. A private key may be part of it."
        action={<FileButton onFile={(file) => void fill(file)} />}
      >
        <Textarea
          mono
          rows={7}
          spellCheck={false}
          autoComplete="off"
          placeholder="-----BEGIN CERTIFICATE-----"
          {...form.register(of('certificate_content'))}
        />
      </Field>
      <Field
        label="Private key"
        optional
        error={fieldError(any, 'private_key')}
        hint="Only for certificates that are presented to upstreams."
      >
        <Textarea
          mono
          rows={4}
          spellCheck={false}
          autoComplete="off"
          placeholder="-----BEGIN PRIVATE KEY-----"
          {...form.register(of('private_key'))}
        />
      </Field>
      <Field label="Passphrase" optional error={fieldError(any, 'passphrase')} hint="If the private key or the PFX file is encrypted.">
        <Input type="password" autoComplete="off" {...form.register(of('passphrase'))} />
      </Field>
    </>
  );
}
