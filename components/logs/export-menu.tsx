'use client';

import { Download } from 'lucide-react';
import { useDownload } from '#components/trpc/download.ts';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';

/** The calls as they are filtered, as a file. */
export function ExportMenu({ filters }: { filters: object }) {
  const { busy, save } = useDownload();
  const planReason = useFeatureReason('log_export');
  const reason = useForbidden('log:export') ?? planReason;
  const saveAs = (format: 'csv' | 'ndjson') =>
    void save(`/admin/logs/export?${new URLSearchParams({ ...stringsOf(filters), format }).toString()}`);
  return (
    <Menu
      trigger={
        <Button icon={<Download />} loading={busy} disabledReason={reason}>
          Export
        </Button>
      }
      entries={[
        { label: 'CSV', detail: 'For spreadsheets', onSelect: () => saveAs('csv') },
        { label: 'JSON lines', detail: 'One call per line, for scripts', onSelect: () => saveAs('ndjson') },
      ]}
    />
  );
}

const stringsOf = (filters: object): Record<string, string> =>
  Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, String(value)]));
