import { join } from 'node:path';
import { openDatabase } from '#base/database.ts';
import { createFabric } from '#base/fabric.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { loadConfig } from '#surfaces/app/home/config.ts';
import { createExtensions } from '#surfaces/app/host/extension-host.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { extensionHostContract } from '../../../contract/extension-host.contract.ts';

extensionHostContract('the host of the app', {
  make: async (t, config) => {
    const temp = createTempHome(t);
    if (config !== undefined) temp.write('config.yaml', config);
    const clock = createManualClock();
    const events = createFabric<TurnEvent>(() => undefined);
    const notices: string[] = [];
    const extensions = createExtensions({
      clock,
      homeRoot: temp.path,
      loaded: await loadConfig(join(temp.path, 'config.yaml')),
      events,
      notice: (text) => notices.push(text),
      runTurn: async function* () {},
      openDatabase: (path, schema) => openDatabase(path, { rooms: [schema] }),
    });
    t.after(() => extensions.shutdown());
    return {
      root: temp.path,
      activate: (extension) => extensions.activate(extension),
      shutdown: () => extensions.shutdown(),
      registered: () => [
        ...[...extensions.tools.keys()].map((name) => `tool:${name}`),
        ...[...extensions.commands.keys()].map((name) => `command:${name}`),
        ...[...extensions.rules.keys()].map((name) => `rule:${name}`),
        ...[...extensions.tasks.keys()].map((name) => `task:${name}`),
        ...extensions.hooks.map((hooks) => `hooks:${hooks.name}`),
      ],
      emit: (event) => events.emit(event),
      advance: (ms) => clock.advance(ms),
      notices: () => notices,
    };
  },
});
