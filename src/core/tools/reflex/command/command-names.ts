// Owns the names of programs that people run, as data; they are the same in every human language.
// Knows no shell grammar. A name that is also an English word stands in the second list: it needs more than itself to be a command.

const PROGRAMS =
  'nproc arch lscpu lspci lsusb lsmod vmstat iostat mpstat sar lastlog finger logname tty locale getconf getent ulimit umask alias pstree pmap pidof fuser swapon blkid findmnt sync sha512sum cksum cmp diff diff3 patch expand unexpand rev tac csplit sponge parallel entr watchexec timeout rclone aria2c yt-dlp http https xh jid gron dasel miller mlr csvkit csvlook csvstat duckdb clickhouse sqlcmd influx etcdctl consul vault nomad packer argocd flux skaffold tilt kustomize k6 ab wrk siege locust newman cypress storybook ng vue-cli create-react-app astro svelte-kit gatsby remix expo react-native pod fastlane gem bundler rubocop rspec solargraph php-cs-fixer phpstan phpunit laravel symfony wp drush rebar3 iex dialyzer stack hlint ormolu fourmolu ocamlfind opam esy roc elm purs spago racket guile sbcl clisp julia octave matlab maxima sage r Rscript gnuplot latex pdflatex xelatex lualatex latexmk bibtex typst asciidoctor rst2html jekyll mdbook zola eleventy hexo vuepress docusaurus npm npx pnpm yarn bun bunx node deno tsc tsx ts-node eslint prettier biome vite vitest jest mocha playwright webpack rollup esbuild next nuxt turbo nx lerna git gh hub svn hg docker docker-compose podman kubectl helm k9s minikube terraform ansible ansible-playbook vagrant aws gcloud az heroku vercel netlify fly flyctl wrangler ' +
  'python python2 python3 pip pip3 pipx poetry uv uvx pytest tox nox ruff black mypy pylint flake8 conda mamba jupyter django-admin flask uvicorn gunicorn celery ruby gem bundle rake rspec rails irb php composer artisan phpunit perl cpan lua luajit r rscript julia java javac mvn gradle gradlew ant kotlin kotlinc scala sbt clojure lein cargo rustc rustup rustfmt clippy gcc g++ cc clang cmake ctest ninja gmake bazel meson zig swift xcodebuild dotnet msbuild nuget mix elixir iex erl ghc stack cabal ocaml dune nim crystal gofmt golangci-lint ' +
  'ls ll la cd pwd cp mv rm rmdir mkdir ln chmod chown chgrp stat du df lsblk mount umount fdisk mkfs dd rsync scp sftp ssh ssh-keygen curl wget httpie nc netcat telnet ping ping6 traceroute dig nslookup whois host ifconfig ip ss netstat lsof nmap tcpdump iptables ufw ps pgrep pkill killall htop btop nohup nice renice jobs bg fg crontab systemctl journalctl launchctl dmesg uname hostname uptime whoami id groups passwd useradd usermod sudo su doas env printenv export ' +
  'grep egrep fgrep rg ag ack fd fzf sed awk gawk jq yq xargs tr wc uniq tee nl od xxd hexdump strings md5sum sha1sum sha256sum shasum base64 openssl gpg tar gzip gunzip zip unzip bzip2 xz zstd 7z zcat bash sh zsh fish dash pwsh powershell tmux screen vim nvim emacs nano code apt apt-get dpkg yum dnf rpm pacman brew snap flatpak apk make sqlite3 psql mysql mysqldump pg_dump redis-cli mongo mongosh ffmpeg ffprobe imagemagick magick pandoc tree bat exa eza ncdu neofetch fastfetch figlet cowsay fortune lolcat seq printf echo basename dirname realpath readlink mktemp shuf bc cal tput clear reset true false talaria act just task hugo jekyll mkdocs sphinx-build ollama llama-server hyperfine shellcheck actionlint valgrind gdb strace ltrace perf rm ldd nm objdump file which whereis';

/** English words too: `run make` is a command, `make sure` is not. */
const WORDY =
  'make find sort time watch kill cat head tail cut join split who man touch less more file date cal open sleep test type history last install top free set link host echo which task act just go act code host stack next hub fly black flask bundle clear reset screen fish dash snap apt gem rake mix dune stat id groups env export nice jobs true false tree file act ant cc r ip ss bat fortune code';

const programs = new Set([...PROGRAMS.split(' '), ...WORDY.split(' ')]);
const wordy = new Set(WORDY.split(' '));

export function isProgram(name: string): boolean {
  return programs.has(name);
}

export function isWordyProgram(name: string): boolean {
  return wordy.has(name);
}
