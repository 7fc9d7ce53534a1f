'use client';

import { type ComponentType, createElement, lazy, Suspense } from 'react';
import { Skeleton } from './skeleton.tsx';
import { useHydrated } from './use-hydrated.ts';
import { useSettled } from './use-settled.ts';

/**
 * A sheet or dialog that most visits of its page never open: its code comes once the page has settled, or at once when it is `wanted`. It then
 * stays mounted while it is closed, as it would without this.
 */
export function lazyOverlay<P extends object>(load: () => Promise<ComponentType<P>>, wanted: (props: P) => boolean): ComponentType<P> {
  const Part = later(load);
  return function Lazily(props: P) {
    const settled = useSettled();
    return settled || wanted(props) ? <Suspense fallback={null}>{createElement(Part, props)}</Suspense> : null;
  };
}

/** A part that few visits of its page show: its code comes when it is shown, and the server sends it drawn. */
export const lazyPart = <P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> => lazyOverlay(load, () => true);

/**
 * A tab or form whose code comes when it is shown, with a skeleton in its place until then. The server sends the skeleton too: a field that stands
 * there before its code is there would lose what is typed into it.
 */
export function lazyTab<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const Part = later(load);
  return function LazyTab(props: P) {
    const inBrowser = useHydrated();
    const skeleton = <Skeleton lines={8} label="Loading" />;
    return inBrowser ? <Suspense fallback={skeleton}>{createElement(Part, props)}</Suspense> : skeleton;
  };
}

/** For `lazyOverlay`: what opens by its `open`. */
export const whenOpen = ({ open }: { open: boolean }): boolean => open;

const later = <P extends object>(load: () => Promise<ComponentType<P>>) => lazy(async () => ({ default: await load() }));
