'use client';

import { CreditCard } from 'lucide-react';
import { usePath } from '#components/trpc/provider.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Page, PageHeader, Split } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { DecryptCard } from './decrypt-card.tsx';
import { InspectCard } from './inspect-card.tsx';
import { KeyCard } from './key-card.tsx';
import { OriginsCard } from './origins-card.tsx';
import { Playground } from './playground.tsx';

const CodeCard = lazyTab(() => import('./code-card.tsx').then((module) => module.CodeCard));

/** Sealing with a public key: the key, a place to try it, and what a page of one's own needs. */
export function EncryptionView() {
  const path = usePath();
  return (
    <Page>
      <PageHeader
        title="Encryption"
        description="Seal values with a public key, in your services or in the browser. Only Sallyport opens them."
        actions={
          <LinkButton href={path('/encryption/hosted-fields')} icon={<CreditCard />}>
            Hosted fields
          </LinkButton>
        }
      />
      <Split
        side={
          <>
            <KeyCard />
            <InspectCard />
            <OriginsCard />
          </>
        }
      >
        <Playground />
        <DecryptCard />
        <CodeCard />
      </Split>
    </Page>
  );
}
