/** Writes runs in a process of its own, many at once, and says what has been promised: `call RUN CALL`, `end RUN`. Arguments: home, name, runs, calls. */
import { openTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { callRecord, newEvent, newRun } from '../../extensions/rlm/trace/trace-samples.ts';

const [home = '', name = '', runs = '1', calls = '1'] = process.argv.slice(2);
const store = openTraceStore(home);

async function writeRun(run_id: string): Promise<void> {
  const trace = store.begin(newRun(run_id));
  trace.keepText(`a text of ${run_id} alone`);
  const start = trace.emit(newEvent('rlm.run.started', { run_id }));
  for (let at = 1; at <= Number(calls); at += 1) {
    const call_id = `call_${at}`;
    const started = trace.emit(newEvent('rlm.hermes.call.started', { call_id }, { causal_parent_event_id: start }));
    await new Promise((resolve) => setImmediate(resolve));
    const prompt = `prompt ${at} of ${run_id} ${'x'.repeat(2_000)}`;
    trace.saveCall(callRecord(call_id, { generation_id: run_id, prompt, causal_parent_event_id: started }));
    process.stdout.write(`call ${run_id} ${call_id}\n`);
    const data = { call_id, success: true };
    trace.emit(newEvent('rlm.hermes.call.completed', data, { causal_parent_event_id: started }));
  }
  trace.emit(newEvent('rlm.run.finished'));
  trace.finish({ state: 'completed', outcome: { run_id, verdict: 'done' } });
  process.stdout.write(`end ${run_id}\n`);
}

await Promise.all(Array.from({ length: Number(runs) }, (_, at) => writeRun(`run_${name}_${at}`)));
store.close();
