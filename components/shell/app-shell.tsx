'use client';

import { MenuIcon, Search, SquareTerminal } from 'lucide-react';
import { usePathname } from 'next/navigation';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { type News, useNews } from '#components/changelog/use-news.ts';
import { useDevPane } from '#components/dev-pane/use-dev-pane.ts';
import { remember } from '#components/theme/appearance-provider.tsx';
import { Button, IconButton } from '#components/ui/button.tsx';
import { cn } from '#components/ui/cn.ts';
import { Kbd } from '#components/ui/kbd.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { onDemand } from '#components/ui/on-demand.ts';
import { type Space, TestBand, TestChip } from '#components/ui/test-band.tsx';
import { useSettled } from '#components/ui/use-settled.ts';
import { Breadcrumb, CrumbProvider } from './crumbs.tsx';
import { useFrameKeys } from './frame-keys.ts';
import { activeItem, type Place } from './navigation.ts';
import { OfflineBar } from './offline-bar.tsx';
import { PageGate } from './page-gate.tsx';
import { Rail } from './rail.tsx';
import { RAIL_COOKIE } from './rail-cookie.ts';
import { RateLimitBar } from './rate-limit-bar.tsx';
import { SessionBar } from './session-bar.tsx';
import { MoveLink, SpaceSwitch } from './space-switch.tsx';
import { HelpMenu, type Person, PersonMenu, ThemeMenu, type Workspace, WorkspaceSwitcher } from './top-bar-menus.tsx';

// Neither is needed to show a page; both are fetched once it has settled, so the first keystroke finds them there.
const loadPalette = () => import('./search.tsx').then((module) => ({ default: module.SearchPalette }));
const loadShortcuts = () => import('./shortcut-sheet.tsx').then((module) => ({ default: module.ShortcutSheet }));
const Palette = lazy(loadPalette);
const DevPane = lazy(() => import('#components/dev-pane/dev-pane.tsx').then((module) => ({ default: module.DevPane })));
const ShortcutSheet = lazy(loadShortcuts);
const InboxBell = lazy(() => import('#components/notifications/bell.tsx').then((module) => ({ default: module.InboxBell })));
// Nothing opens it but an answer; there before a call can have one.
const Handover = lazyOverlay(
  () => import('./handover.tsx').then((module) => module.Handover),
  () => false,
);
// Nothing opens it but a refused call.
const StepUpDialog = lazyOverlay(
  () => import('#components/step-up/step-up-dialog.tsx').then((module) => module.StepUpDialog),
  () => false,
);
const NewsSheet = lazyOverlay(() => import('#components/changelog/news-sheet.tsx').then((module) => module.NewsSheet), whenOpen);
const drawerView = onDemand(() => import('./drawer.tsx').then((module) => module.Drawer));

export type AppShellProps = {
  workspaces: readonly Workspace[];
  current: Workspace;
  /** The partition of the address; on pages without one, where the links should lead. */
  space: Space;
  /** False on settings and personal pages: no band, no chip. */
  partitioned?: boolean;
  user: Person;
  news: News;
  onSignOut: () => void;
  /** From the cookie, so that the first paint has the right width. */
  railCollapsed?: boolean;
  railFoot?: ReactNode;
  createWorkspaceHref?: string;
  /** A line over the content: e-mail not verified, plan over its limit. */
  banner?: ReactNode;
  children: ReactNode;
};

/** The frame of every signed-in page. */
export function AppShell(props: AppShellProps) {
  const { workspaces, current, space, partitioned = true, user, onSignOut, railFoot, createWorkspaceHref, banner, children } = props;
  const [collapsed, setCollapsed] = useState(props.railCollapsed ?? false);
  const [drawer, setDrawer] = useState(false);
  const Drawer = drawerView.use(drawer);
  const [palette, setPalette] = useState(false);
  const [shortcuts, setShortcuts] = useState(false);
  const news = useNews(props.news);
  const place: Place = { slug: current.slug, space };
  const page = activeItem(usePathname(), place);
  const test = partitioned && space === 'test';

  const toggleRail = () => {
    remember(RAIL_COOKIE, collapsed ? 'open' : 'collapsed');
    setCollapsed(!collapsed);
  };
  const pane = useDevPane();
  const paneButton = useRef<HTMLButtonElement>(null);
  const closePane = () => {
    pane.setOpen(false);
    paneButton.current?.focus();
  };
  useFrameKeys(place, {
    openPalette: () => setPalette(true),
    openShortcuts: () => setShortcuts(true),
    toggleRail,
    togglePane: () => (pane.open ? closePane() : pane.setOpen(true)),
  });
  const overlays = useSettled() || palette || shortcuts;

  return (
    <CrumbProvider>
      <link rel="icon" type="image/svg+xml" href={test ? '/icon-test.svg' : '/icon.svg'} />
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to the content; without scripts it does so by itself. */}
      <a
        href="#content"
        onClick={(event) => {
          // Followed as a link it would be a step of the history that the router does not know: Back to it changed nothing on the page.
          event.preventDefault();
          document.getElementById('content')?.focus();
        }}
        className="fixed top-2 left-2 z-70 -translate-y-16 rounded-md bg-accent px-3 py-1.5 text-on-accent focus:translate-y-0"
      >
        Skip to content
      </a>
      <div className="flex min-h-dvh flex-col">
        {/* Over the page, so that nothing moves between Test and pages without the band. */}
        {test && (
          <div className="pointer-events-none fixed inset-x-0 top-0 z-70">
            <TestBand />
          </div>
        )}
        <div className="flex min-h-0 flex-1">
          <aside
            className={cn(
              'sticky top-0 hidden h-dvh shrink-0 border-line border-r bg-canvas transition-[width] duration-150 ease-out lg:block',
              collapsed ? 'w-14' : 'w-(--rail-width)',
            )}
          >
            <Rail place={place} collapsed={collapsed} onToggle={toggleRail} foot={railFoot} />
          </aside>
          <div className="flex min-w-0 flex-1 flex-col">
            <header className="sticky top-0 z-30 border-line border-b bg-canvas">
              <OfflineBar />
              <SessionBar />
              <RateLimitBar />
              <div className="flex h-(--topbar-height) items-center gap-1.5 px-3 sm:gap-2 lg:px-5">
                <IconButton label="Pages" icon={<MenuIcon />} onClick={() => setDrawer(true)} className="lg:hidden" />
                <WorkspaceSwitcher workspaces={workspaces} current={current} space={space} createHref={createWorkspaceHref} />
                <SpaceSwitch place={place} partitioned={partitioned} />
                {partitioned && <MoveLink place={place} />}
                {test && <TestChip className="max-md:hidden" />}
                <span aria-hidden className="mx-1 h-4 w-px shrink-0 bg-line-strong max-md:hidden" />
                <div className="min-w-0 max-md:hidden">
                  <Breadcrumb place={place} />
                </div>
                <div className="ml-auto flex items-center gap-0.5 sm:gap-1">
                  <SearchBox onOpen={() => setPalette(true)} />
                  <IconButton
                    ref={paneButton}
                    label="Developer pane"
                    keys="~"
                    aria-expanded={pane.open}
                    icon={<SquareTerminal />}
                    onClick={() => pane.setOpen(!pane.open)}
                    tooltipSide="bottom"
                  />
                  <span className="size-8">
                    {overlays && (
                      <Suspense fallback={null}>
                        <InboxBell />
                      </Suspense>
                    )}
                  </span>
                  {/* A phone has no room for it beside the bell; the colours are among the person's preferences too. */}
                  <span className="max-sm:hidden">
                    <ThemeMenu />
                  </span>
                  <span className="max-sm:hidden">
                    <HelpMenu page={page} unread={news.unread} onNews={() => news.setOpen(true)} onShortcuts={() => setShortcuts(true)} />
                  </span>
                  <PersonMenu user={user} onSignOut={onSignOut} />
                </div>
              </div>
            </header>
            <main id="content" tabIndex={-1} className="flex min-w-0 flex-1 flex-col outline-none">
              {banner}
              <PageGate place={place}>{children}</PageGate>
            </main>
            {pane.open && (
              <Suspense fallback={null}>
                <DevPane height={pane.height} onHeight={pane.setHeight} onClose={closePane} />
              </Suspense>
            )}
          </div>
        </div>
      </div>
      {Drawer && (
        <Drawer open={drawer} onOpenChange={setDrawer}>
          <Rail place={place} collapsed={false} onNavigate={() => setDrawer(false)} foot={railFoot} />
        </Drawer>
      )}
      <Handover />
      <StepUpDialog />
      <NewsSheet open={news.open} onOpenChange={news.setOpen} />
      <Suspense fallback={null}>
        {overlays && (
          <>
            <Palette open={palette} onOpenChange={setPalette} place={place} workspaces={workspaces} onNews={() => news.setOpen(true)} />
            <ShortcutSheet open={shortcuts} onOpenChange={setShortcuts} />
          </>
        )}
      </Suspense>
    </CrumbProvider>
  );
}

function SearchBox({ onOpen }: { onOpen: () => void }) {
  return (
    <>
      <Button
        aria-keyshortcuts="Control+K Meta+K"
        onClick={onOpen}
        className="w-52 border-line-strong px-2 font-normal text-ink-3 max-lg:hidden xl:w-64 [&>span]:w-full"
      >
        <Search aria-hidden /> Search <Kbd keys="mod+k" className="ml-auto" />
      </Button>
      <IconButton label="Search" keys="mod+k" icon={<Search />} onClick={onOpen} tooltipSide="bottom" className="lg:hidden" />
    </>
  );
}
