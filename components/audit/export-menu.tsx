'use client';

import { Download } from 'lucide-react';
import { useDownload } from '#components/trpc/download.ts';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import type { AuditFilters } from './use-entries.ts';

/** Saves the entries that the timeline is narrowed to, for those whose role and plan allow it. */
export function ExportMenu({ filters }: { filters: AuditFilters }) {
  const { busy, save } = useDownload();
  const forbidden = useForbidden('audit_log:export');
  const notInPlan = useFeatureReason('audit_export');
  const exportAs = (format: 'csv' | 'jsonl') =>
    void save(`/admin/audit-logs/export?${new URLSearchParams({ ...filters, format }).toString()}`);
  return (
    <Menu
      trigger={
        <Button icon={<Download />} loading={busy} disabledReason={forbidden ?? notInPlan}>
          Export
        </Button>
      }
      entries={[
        { label: 'CSV', detail: 'For spreadsheets; formulas are escaped', onSelect: () => exportAs('csv') },
        { label: 'JSON Lines', detail: 'One entry per line', onSelect: () => exportAs('jsonl') },
      ]}
    />
  );
}
