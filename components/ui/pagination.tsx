'use client';

import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, IconButton } from './button.tsx';
import { Select } from './select.tsx';

export type PaginationProps = {
  page: number;
  perPage: number;
  total: number;
  onPage: (page: number) => void;
  onPerPage?: (perPage: number) => void;
  sizes?: readonly number[];
  /** What is counted, in the plural: "routes". */
  noun: string;
};

export function Pagination({ page, perPage, total, onPage, onPerPage, sizes = [20, 50, 100], noun }: PaginationProps) {
  const pages = Math.max(1, Math.ceil(total / perPage));
  const from = total === 0 ? 0 : (page - 1) * perPage + 1;
  const count = new Intl.NumberFormat();
  return (
    <nav aria-label={`Pages of ${noun}`} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 text-ink-2 text-xs">
      <p aria-live="polite" className="figures">
        {total === 1
          ? '1 of 1'
          : `${count.format(from)}–${count.format(Math.min(page * perPage, total))} of ${count.format(total)} ${noun}`}
      </p>
      <div className="flex items-center gap-2">
        {onPerPage && (
          <Select
            size="sm"
            label={`${noun} per page`}
            options={sizes.map((size) => ({ value: size.toString(), label: `${size.toString()} per page` }))}
            value={perPage.toString()}
            onValueChange={(size) => onPerPage(Number(size))}
            className="w-32 text-xs"
          />
        )}
        <span className="figures px-1">
          Page {count.format(page)} of {count.format(pages)}
        </span>
        <IconButton
          size="sm"
          variant="secondary"
          label="Previous page"
          icon={<ChevronLeft />}
          disabled={page <= 1}
          onClick={() => onPage(page - 1)}
        />
        <IconButton
          size="sm"
          variant="secondary"
          label="Next page"
          icon={<ChevronRight />}
          disabled={page >= pages}
          onClick={() => onPage(page + 1)}
        />
      </div>
    </nav>
  );
}

export type LoadMoreProps = {
  hasMore: boolean;
  loading?: boolean;
  onMore: () => void /** Said at the end of the list, e.g. how long logs are kept. */;
  endNote?: ReactNode;
};

/** The foot of a list that is paged by cursor. */
export function LoadMore({ hasMore, loading, onMore, endNote }: LoadMoreProps) {
  return (
    <div className="flex justify-center py-3 text-ink-3 text-xs">
      {hasMore ? (
        <Button size="sm" loading={loading} onClick={onMore}>
          Load older
        </Button>
      ) : (
        endNote
      )}
    </div>
  );
}
