'use client';

import { LayoutGrid, Play, Plus, Redo2, Undo2, Upload } from 'lucide-react';
import { useMemo, useState, useSyncExternalStore } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button, IconButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { lazyOverlay, lazyTab, whenOpen } from '#components/ui/lazy.tsx';
import { notify } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { Problem } from '#server/domain/workflows/definition.shared.ts';
import { problemsOf } from '#server/domain/workflows/publishable.shared.ts';
import { CanvasArea } from './canvas-area.tsx';
import { ConflictNotice } from './conflict-notice.tsx';
import { cannotConnect, type Place, stepOf, withEdge, without, withPositions, withStep } from './document.ts';
import { LiveRun } from './live-run.tsx';
import { SaveState } from './save-state.tsx';
import { kindOf, type StepKind } from './step-kinds.ts';
import type { StepMark } from './step-mark.tsx';
import { useClipboard } from './use-clipboard.ts';
import { useEditor } from './use-editor.ts';
import { useEditorKeys } from './use-editor-keys.ts';
import { useLastRun } from './use-last-run.ts';
import type { Detail, Draft } from './workflow-labels.ts';

const ConfigPanel = lazyTab(() => import('./config-panel.tsx').then((module) => module.ConfigPanel));
const StepPalette = lazyOverlay(() => import('./step-palette.tsx').then((module) => module.StepPalette), whenOpen);
const PublishDialog = lazyOverlay(() => import('./publish-dialog.tsx').then((module) => module.PublishDialog), whenOpen);
const RunDialog = lazyOverlay(() => import('./run-dialog.tsx').then((module) => module.RunDialog), whenOpen);
const TestDialog = lazyOverlay(() => import('./test-dialog.tsx').then((module) => module.TestDialog), whenOpen);

type Open = { what: 'step'; place: Place } | { what: 'publish' | 'run' } | { what: 'test'; id: string } | undefined;
const NOBODY: ReadonlySet<string> = new Set();

/** The canvas with its toolbar, the settings of the chosen step, and what can be done with the draft. */
export function EditorFrame({ workflow, draft }: { workflow: Detail; draft: Draft }) {
  const { space } = useScope();
  const forbidden = useForbidden('workflow:update');
  const cannotRun = useForbidden('workflow:execute');
  const narrow = useNarrow();
  const readOnly = forbidden !== undefined || narrow;
  const editor = useEditor(workflow.id, draft, readOnly);
  const { doc, edit, saving } = editor;
  useUnsavedGuard(!readOnly && saving.state !== 'saved');
  const [steps, setSteps] = useState<ReadonlySet<string>>(NOBODY);
  const [edges, setEdges] = useState<ReadonlySet<string>>(NOBODY);
  const [open, setOpen] = useState<Open>();
  const [fit, setFit] = useState(0);
  const last = useLastRun(workflow.id);
  const select = (ids: readonly string[], ways: readonly string[] = []) => {
    setSteps(new Set(ids));
    setEdges(new Set(ways));
  };
  const problems = useMemo(() => problemsOf(doc, { sandbox: space === 'test' }), [doc, space]);
  const marks = useMemo(() => marksOf(problems, last.marks), [problems, last.marks]);
  const [only] = steps;
  const chosen = steps.size === 1 && only ? stepOf(doc, only) : undefined;
  const add = (place: Place) => setOpen({ what: 'step', place });
  const addAnywhere = () => {
    // After the chosen step where it has room for one, else beside everything.
    const free = chosen && kindOf(chosen.type) && !doc.edges.some(({ source }) => source === chosen.id) ? chosen : undefined;
    const lowest = Math.max(0, ...doc.nodes.map(({ position }) => (position?.y ?? 0) + 136));
    add(
      free && free.type !== 'condition' && free.type !== 'router' && free.type !== 'loop'
        ? { after: free.id, outlet: 'out' }
        : { at: { x: 0, y: lowest } },
    );
  };
  const pick = (kind: StepKind) => {
    if (open?.what !== 'step') return;
    const { doc: next, id } = withStep(doc, kind, open.place);
    edit(() => next);
    setOpen(undefined);
    select([id]);
  };
  const layOut = () =>
    void import('./layout.ts').then(({ laidOut }) => {
      edit((now) => withPositions(now, laidOut(now)));
      setFit((count) => count + 1);
    });
  const remove = () => {
    edit((now) => without(now, [...steps], [...edges]));
    select([]);
  };
  const paste = useClipboard(doc, steps, readOnly, edit, select);
  useEditorKeys({
    readOnly,
    undo: editor.undo,
    redo: editor.redo,
    save: () => void editor.save().then((done) => done && notify('Draft saved')),
    run: () => cannotRun || setOpen({ what: 'run' }),
    add: addAnywhere,
    remove,
    duplicate: () => paste.duplicate(),
    all: () => select(doc.nodes.map(({ id }) => id)),
    leave: () => select([]),
  });
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return (
    <div className="flex flex-col gap-3">
      {narrow && !forbidden && (
        <Callout title="Workflows are edited in a wider window">Here you can look at the steps and run them.</Callout>
      )}
      {forbidden && <Callout title="You can look at this workflow">{forbidden}</Callout>}
      {saving.state === 'conflict' && <ConflictNotice id={workflow.id} editor={editor} />}
      <div className="flex flex-wrap items-center gap-2">
        {!readOnly && (
          <>
            <Button icon={<Plus />} keys="/" onClick={addAnywhere}>
              Add step
            </Button>
            <span className="flex">
              <IconButton
                label="Undo"
                keys="mod+z"
                icon={<Undo2 />}
                disabledReason={editor.canUndo ? undefined : 'There is nothing to undo.'}
                onClick={editor.undo}
              />
              <IconButton
                label="Redo"
                keys="mod+shift+z"
                icon={<Redo2 />}
                disabledReason={editor.canRedo ? undefined : 'There is nothing to redo.'}
                onClick={editor.redo}
              />
              <IconButton label="Lay out" icon={<LayoutGrid />} onClick={layOut} />
            </span>
            <SaveState saving={saving} onRetry={() => void editor.save()} />
          </>
        )}
        <span className="ml-auto flex flex-wrap items-center gap-2">
          <Button icon={<Play />} keys="mod+enter" disabledReason={cannotRun} onClick={() => setOpen({ what: 'run' })}>
            Run
          </Button>
          {!readOnly && (
            <Button variant="primary" icon={<Upload />} onClick={() => setOpen({ what: 'publish' })}>
              {errors > 0 ? `Publish (${errors} ${errors === 1 ? 'problem' : 'problems'})` : 'Publish'}
            </Button>
          )}
        </span>
      </div>
      <LiveRun last={last} />
      <div className="relative flex h-[max(30rem,calc(100dvh-19rem))] overflow-hidden rounded-lg border border-line-strong bg-canvas">
        <CanvasArea
          doc={doc}
          label={`Steps of ${workflow.name}`}
          selected={steps}
          selectedEdges={edges}
          onSelect={select}
          marks={marks}
          edgeMarks={last.edgeMarks}
          fit={fit}
          edits={
            readOnly
              ? undefined
              : {
                  move: (positions) => edit((now) => withPositions(now, positions), `move-${[...positions.keys()].join()}`),
                  connect: (source, outlet, target) => {
                    const reason = cannotConnect(doc, source, outlet, target);
                    if (reason) notify(reason);
                    else edit((now) => withEdge(now, source, outlet, target));
                  },
                  add,
                }
          }
        />
        {chosen && (
          <div className="absolute inset-y-0 right-0 flex w-full max-w-96 shadow-overlay lg:static lg:w-96 lg:shadow-none">
            <ConfigPanel
              doc={doc}
              step={chosen}
              problems={problems.filter(({ node_id }) => node_id === chosen.id)}
              outputs={last.outputs}
              readOnly={readOnly}
              edit={edit}
              onAdd={add}
              onTest={() => setOpen({ what: 'test', id: chosen.id })}
              onSelect={(id) => select([id])}
              onClose={() => select([])}
            />
          </div>
        )}
      </div>
      <StepPalette open={open?.what === 'step'} onClose={() => setOpen(undefined)} onPick={pick} />
      <PublishDialog
        open={open?.what === 'publish'}
        workflow={workflow}
        editor={editor}
        problems={problems}
        onClose={() => setOpen(undefined)}
        onGo={(id) => {
          setOpen(undefined);
          select([id]);
        }}
      />
      <RunDialog
        open={open?.what === 'run'}
        workflow={workflow}
        editor={editor}
        readOnly={readOnly}
        last={last.input}
        onClose={() => setOpen(undefined)}
        onStarted={(id) => {
          setOpen(undefined);
          last.follow(id);
        }}
      />
      <TestDialog
        open={open?.what === 'test'}
        workflow={workflow}
        editor={editor}
        id={open?.what === 'test' ? open.id : undefined}
        outputs={last.outputs}
        onClose={() => setOpen(undefined)}
      />
    </div>
  );
}

/** What is wrong with each step, and how it fared in the run that is followed. */
function marksOf(problems: readonly Problem[], run: ReadonlyMap<string, StepMark>): Map<string, StepMark> {
  const marks = new Map<string, StepMark>(run);
  for (const problem of problems) {
    if (problem.node_id === null) continue;
    const mark = marks.get(problem.node_id) ?? {};
    marks.set(problem.node_id, { ...mark, problems: [...(mark.problems ?? []), problem] });
  }
  return marks;
}

const WIDE = '(min-width: 48rem)';
/** A phone: there a workflow is looked at, not edited. */
const useNarrow = () =>
  useSyncExternalStore(
    (tell) => {
      const wide = window.matchMedia(WIDE);
      wide.addEventListener('change', tell);
      return () => wide.removeEventListener('change', tell);
    },
    () => !window.matchMedia(WIDE).matches,
    () => false,
  );
