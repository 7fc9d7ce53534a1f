'use client';

import { ChevronLeft, ChevronRight } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { Button, IconButton } from './button.tsx';
import { grouped } from './numbers.ts';
import { Select } from './select.tsx';

export type PaginationProps = {
  /** Of the list's answer; undefined until there is one. */
  meta: { page: number; per_page: number; total: number; total_pages?: number } | undefined;
  onPage: (page: number) => void;
  /** Where other sizes of a page are offered. */
  onPerPage?: (perPage: number) => void;
  /** What is counted, in the plural: "routes". */
  noun: string;
};

const SMALLEST = 20;
const SIZES = [SMALLEST, 50, 100];

/** The foot of a list with numbered pages: only the count where all is on one page whatever its size, and nothing where that is all there ever is. */
export function Pagination({ meta, onPage, onPerPage, noun }: PaginationProps) {
  // A page behind the end (an old link, or rows that were deleted since) would look like an empty list.
  const last = meta && Math.max(1, Math.min(Math.ceil(meta.total / meta.per_page), meta.total_pages ?? Infinity));
  const beyond = meta !== undefined && last !== undefined && meta.total > 0 && meta.page > last;
  useEffect(() => {
    if (beyond) onPage(last);
  });
  if (!meta || beyond || meta.total === 0 || (!onPerPage && meta.total <= meta.per_page)) return null;
  const { page, per_page: perPage, total } = meta;
  const pages = last ?? 1;
  const from = (page - 1) * perPage + 1;
  // The server reads no page that begins behind its deepest row, however long the list is.
  const unreached = page >= pages && total > pages * perPage;
  return (
    <nav aria-label={`Pages of ${noun}`} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 text-ink-2 text-xs">
      <p aria-live="polite" className="figures">
        {total === 1 ? '1 of 1' : `${grouped(from)}–${grouped(Math.min(page * perPage, total))} of ${grouped(total)} ${noun}`}
      </p>
      {unreached && (
        <p>
          Pages end here. Search or filter to see the other {grouped(total - pages * perPage)} {noun}.
        </p>
      )}
      {(page > 1 || total > Math.min(SMALLEST, perPage)) && (
        <div className="flex items-center gap-2">
          {onPerPage && (
            <Select
              size="sm"
              label={`${noun} per page`}
              options={SIZES.map((size) => ({ value: size.toString(), label: `${size.toString()} per page` }))}
              value={perPage.toString()}
              onValueChange={(size) => onPerPage(Number(size))}
              className="w-32 text-xs"
            />
          )}
          <span className="figures px-1">
            Page {grouped(page)} of {grouped(pages)}
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
      )}
    </nav>
  );
}

export type LoadMoreProps = {
  /** The query that pages. */
  pages: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
  /** Said at the end of the list, e.g. how long logs are kept. */
  endNote?: ReactNode;
};

/** The foot of a list that is paged by cursor. */
export function LoadMore({ pages, endNote }: LoadMoreProps) {
  return (
    <div className="flex justify-center py-3 text-ink-3 text-xs">
      {pages.hasNextPage ? (
        <Button size="sm" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          Load older
        </Button>
      ) : (
        endNote
      )}
    </div>
  );
}
