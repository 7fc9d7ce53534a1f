'use client';

import { Package } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyTab, whenOpen } from '#components/ui/lazy.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { Segmented } from '#components/ui/tabs.tsx';
import { CredentialTable } from './credential-table.tsx';
import { wrapSearch } from './list-search.ts';
import { TokenTable } from './token-table.tsx';

const TryCall = lazyTab(() => import('./try-call.tsx').then((module) => module.TryCall));
const Wizard = lazyOverlay(() => import('./wizard.tsx').then((module) => module.Wizard), whenOpen);

/** Provider keys in escrow, and the gateway tokens that stand for them. */
export function WrapView() {
  const [search, setSearch] = useQueryStates(wrapSearch);
  const panel = usePanel('open');
  const readOnly = useForbidden('secret:create');
  const start = (
    <Button variant="primary" icon={<Package />} disabledReason={readOnly} onClick={() => void panel.open('new')}>
      Wrap an SDK
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Wrap credentials"
        description="Keep a provider's key here and let an unchanged SDK use it, without the key ever being in your code."
        actions={start}
      />
      <Segmented
        label="Show"
        value={search.tab}
        onValueChange={(tab) => void setSearch({ tab, page: null })}
        options={[
          { value: 'credentials', label: 'Credentials' },
          { value: 'tokens', label: 'Gateway tokens' },
          { value: 'try', label: 'Try a call' },
        ]}
      />
      {search.tab === 'credentials' && <CredentialTable page={search.page} onPage={(page) => void setSearch({ page })} start={start} />}
      {search.tab === 'tokens' && <TokenTable />}
      {search.tab === 'try' && <TryCall />}
      <Wizard open={panel.id === 'new'} onClose={() => void panel.close()} />
    </Page>
  );
}
