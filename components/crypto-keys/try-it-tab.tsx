'use client';

import { parseAsStringLiteral, useQueryState } from 'nuqs';
import type { ReactNode } from 'react';
import { usePath } from '#components/trpc/provider.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { type KeyUse, keyTypeCan } from '#server/domain/crypto-keys/key-types.shared.ts';
import { type Detail, managedReason } from './key-labels.ts';
import { TryDecrypt, TryEncrypt, TryRewrap } from './try-encryption.tsx';
import { TrySign, TryVerify } from './try-signatures.tsx';
import { TryJwt, TryVerifyJwt, TryWebhook } from './try-tokens.tsx';

const TRIES = ['encrypt', 'decrypt', 'rewrap', 'sign', 'verify', 'jwt', 'jwt/verify', 'webhook-sign'] as const satisfies readonly KeyUse[];
type Try = (typeof TRIES)[number];

const LABELS: Record<Try, string> = {
  encrypt: 'Encrypt',
  decrypt: 'Decrypt',
  rewrap: 'Rewrap',
  sign: 'Sign',
  verify: 'Verify',
  jwt: 'Sign JWT',
  'jwt/verify': 'Verify JWT',
  'webhook-sign': 'Sign webhook',
};

const TEXTS: Record<Try, string> = {
  encrypt: 'Encrypts under the active version. What you type isn’t stored.',
  decrypt: 'Shows the plaintext after a verification. The audit log records who saw it, not what it says.',
  rewrap: 'Moves a ciphertext to the active version. The plaintext isn’t shown.',
  sign: 'Signs under the active version.',
  verify: 'Checks a signature against the version it names, or against all versions.',
  jwt: 'Signs claims as a JSON Web Token.',
  'jwt/verify': 'Checks signature, version and claims of a token.',
  'webhook-sign': 'Signs a body the way receivers of a format check it.',
};

const FORMS: Record<Try, (props: { crypto: Detail }) => ReactNode> = {
  encrypt: TryEncrypt,
  decrypt: TryDecrypt,
  rewrap: TryRewrap,
  sign: TrySign,
  verify: TryVerify,
  jwt: TryJwt,
  'jwt/verify': TryVerifyJwt,
  'webhook-sign': TryWebhook,
};

/** Uses the key once, with the rights of the person. */
export function TryIt({ crypto }: { crypto: Detail }) {
  const path = usePath();
  const [wanted, choose] = useQueryState('do', parseAsStringLiteral(TRIES));
  const can = TRIES.filter((one) => keyTypeCan(crypto.key_type, one));
  const [first] = can;
  if (!first)
    return (
      <Callout
        title="Keys of this type seal values in browsers and applications"
        actions={
          <LinkButton size="sm" href={path('/encryption')}>
            Open Encryption
          </LinkButton>
        }
      >
        Try it there, with this key’s name.
      </Callout>
    );
  if (crypto.managed_by === 'vault' && keyTypeCan(crypto.key_type, 'encrypt')) return <Callout title={managedReason(crypto)} />;
  const shown = can.find((one) => one === wanted) ?? first;
  const Form = FORMS[shown];
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      <Segmented
        label="Operation"
        value={shown}
        onValueChange={(next) => void choose(next)}
        options={can.map((one) => ({ value: one, label: LABELS[one] }))}
      />
      <SectionCard title={LABELS[shown]} description={TEXTS[shown]}>
        <Form key={shown} crypto={crypto} />
      </SectionCard>
    </div>
  );
}
